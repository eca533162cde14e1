# untold with the preview for pictures without a display, drawn by Mesa on the
# processor:
#
#   docker build -f deploy/preview.Dockerfile -t untold-preview .
#   docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" untold-preview \
#     preview out/city --headless --screenshot city.png
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY scripts/install-deps.sh scripts/install-deps.sh
RUN sh scripts/install-deps.sh build
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build install PREFIX=/usr DESTDIR=/installed

FROM debian:bookworm-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates libegl1 libgl1 libgl1-mesa-dri libx11-6 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/ /
ENV HOME=/tmp
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/usr/bin/untold"]
