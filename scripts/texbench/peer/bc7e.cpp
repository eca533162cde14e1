// A program around bc7e_scalar of Basis Universal, for texbench:
//
//	g++ -O2 -I DIR/encoder scripts/texbench/peer/bc7e.cpp DIR/encoder/basisu_bc7e_scalar.cpp -o bc7e
//
// where DIR is a copy of https://github.com/BinomialLLC/basis_universal of 2026 or later.
// bc7e LEVEL WIDTH HEIGHT INPUT OUTPUT reads RGBA, 4 bytes a texel, edges multiples of 4,
// writes blocks and prints the seconds of processor time that it took.
#include "basisu_bc7e_scalar.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

int main(int argc, char **argv) {
	if (argc != 6) return fprintf(stderr, "usage: bc7e LEVEL WIDTH HEIGHT INPUT OUTPUT\n"), 2;
	const int w = atoi(argv[2]), h = atoi(argv[3]);
	if (w < 4 || h < 4 || w % 4 || h % 4 || w > 16384 || h > 16384) return fprintf(stderr, "bc7e: bad size\n"), 2;
	bc7e_scalar::bc7e_compress_block_params p;
	if (!strcmp(argv[1], "ultrafast")) bc7e_scalar::bc7e_compress_block_params_init_ultrafast(&p, false);
	else if (!strcmp(argv[1], "fast")) bc7e_scalar::bc7e_compress_block_params_init_fast(&p, false);
	else if (!strcmp(argv[1], "basic")) bc7e_scalar::bc7e_compress_block_params_init_basic(&p, false);
	else if (!strcmp(argv[1], "slowest")) bc7e_scalar::bc7e_compress_block_params_init_slowest(&p, false);
	else return fprintf(stderr, "bc7e: unknown level %s\n", argv[1]), 2;

	std::vector<uint32_t> in(size_t(w) * h), blocks(in.size());
	bool opaque = true;
	FILE *f = fopen(argv[4], "rb");
	if (!f || fread(in.data(), 4, in.size(), f) != in.size()) return fprintf(stderr, "bc7e: cannot read %s\n", argv[4]), 1;
	fclose(f);
	for (size_t i = 0; i < in.size(); i++) {
		opaque = opaque && in[i] >> 24 == 255;
		const size_t x = i % w, y = i / w;
		blocks[((y / 4) * (w / 4) + x / 4) * 16 + y % 4 * 4 + x % 4] = in[i];
	}
	if (opaque) p.m_weights[3] = 64; // what is opaque stays so, as here
	std::vector<uint64_t> out(in.size() / 8);
	bc7e_scalar::bc7e_compress_block_init();
	const clock_t start = clock();
	bc7e_scalar::bc7e_compress_blocks(uint32_t(in.size() / 16), out.data(), blocks.data(), &p);
	printf("%.4f\n", double(clock() - start) / CLOCKS_PER_SEC);
	f = fopen(argv[5], "wb");
	if (!f || fwrite(out.data(), 8, out.size(), f) != out.size() || fclose(f)) return fprintf(stderr, "bc7e: cannot write %s\n", argv[5]), 1;
}
