meta:
  id: utex
  title: utex texture with its mip levels, as a GPU takes them
  file-extension: utex
  license: Apache-2.0
  ks-version: '0.10'
  endian: le
doc: |
  One texture of a streamed scene: docs/container.md. A test holds the fields here to
  the code that writes them.
doc-ref: docs/container.md
seq:
  - id: header
    type: header
  - id: levels
    type: level
    repeat: expr
    repeat-expr: header.mip_count
    doc: The largest first, wherever their bytes lie.
types:
  header:
    seq:
      - id: magic
        contents: [0x55, 0x54, 0x45, 0x58, 0, 0, 0, 0]
      - id: version
        type: u4
        valid: 1
      - id: flags
        type: u4
      - id: width
        type: u4
      - id: height
        type: u4
      - id: mip_count
        type: u4
        valid:
          min: 1
          max: 17
      - id: pixel_format
        type: u4
        enum: pixel_format
      - id: block_width
        type: u1
      - id: block_height
        type: u1
      - id: reserved0
        size: 2
      - id: payload_offset
        type: u4
      - id: total_payload_size
        type: u4
      - id: reserved1
        size: 20
  level:
    seq:
      - id: byte_offset
        type: u4
      - id: byte_size
        type: u4
      - id: width
        type: u4
      - id: height
        type: u4
    instances:
      blocks:
        io: _root._io
        pos: _root.header.payload_offset + byte_offset
        size: byte_size
enums:
  pixel_format:
    20: r16unorm
    115: rgba16float
    142: bc5
    152: bc7
    153: bc7_srgb
    186: astc_4x4_srgb
    187: astc_5x4_srgb
    188: astc_5x5_srgb
    189: astc_6x5_srgb
    190: astc_6x6_srgb
    192: astc_8x5_srgb
    193: astc_8x6_srgb
    194: astc_8x8_srgb
    195: astc_10x5_srgb
    196: astc_10x6_srgb
    197: astc_10x8_srgb
    198: astc_10x10_srgb
    199: astc_12x10_srgb
    200: astc_12x12_srgb
    204: astc_4x4
    205: astc_5x4
    206: astc_5x5
    207: astc_6x5
    208: astc_6x6
    210: astc_8x5
    211: astc_8x6
    212: astc_8x8
    213: astc_10x5
    214: astc_10x6
    215: astc_10x8
    216: astc_10x10
    217: astc_12x10
    218: astc_12x12
