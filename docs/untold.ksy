meta:
  id: untold
  title: untold container of streamed geometry
  file-extension: untold
  license: Apache-2.0
  ks-version: '0.10'
  encoding: UTF-8
  endian: le
doc: |
  A tile, a level, an HLOD or a shared bucket of a streamed scene: docs/container.md.
  A test holds the fields here to the code that writes them.
doc-ref: docs/container.md
seq:
  - id: header
    type: header
  - id: chunks
    type: chunk_entry
    repeat: expr
    repeat-expr: header.chunk_count
instances:
  strings:
    value: chunks[0].body.as<blob>
    if: chunks[0].chunk_type == chunk_type::string_table and chunks[0].compression_type == compression::none
    doc: The string table, which all known writers put first and store as it is.
types:
  header:
    seq:
      - id: magic
        contents: [0x55, 0x4e, 0x54, 0x4f, 0x4c, 0x44, 0, 0]
      - id: format_version
        type: u4
        valid:
          min: 1
          max: 4
      - id: file_type
        type: u4
        enum: file_type
      - id: flags
        type: u4
      - id: header_size
        type: u4
      - id: chunk_count
        type: u4
      - id: mesh_count
        type: u4
      - id: material_count
        type: u4
      - id: texture_ref_count
        type: u4
      - id: entity_count
        type: u4
      - id: vertex_layout
        type: u4
        enum: vertex_layout
      - id: reserved0
        type: u4
      - id: world_bounds_min
        type: vec3
      - id: world_bounds_max
        type: vec3
      - id: root_transform
        type: f4
        repeat: expr
        repeat-expr: 16
      - id: content_hash
        size: 32
      - id: reserved1
        size: 32
  vec3:
    seq:
      - id: x
        type: f4
      - id: y
        type: f4
      - id: z
        type: f4
  chunk_entry:
    seq:
      - id: chunk_type
        type: u4
        enum: chunk_type
      - id: compression_type
        type: u4
        enum: compression
      - id: file_offset
        type: u8
      - id: compressed_size
        type: u8
      - id: uncompressed_size
        type: u8
      - id: element_count
        type: u4
      - id: reserved0
        type: u4
    instances:
      stored:
        io: _root._io
        pos: file_offset
        size: compressed_size
        doc: The bytes in the file, which the content hash is made of.
      body:
        io: _root._io
        pos: file_offset
        size: compressed_size
        if: compression_type == compression::none
        type:
          switch-on: chunk_type
          cases:
            'chunk_type::entity_table': entities
            'chunk_type::mesh_table': meshes
            'chunk_type::material_table': materials
            'chunk_type::texture_table': textures
            'chunk_type::vertex_data': vertices
            _: blob
        doc: The content of what is not compressed.
  blob:
    seq:
      - id: data
        size-eos: true
  entities:
    seq:
      - id: records
        type: entity
        repeat: eos
  meshes:
    seq:
      - id: records
        type: mesh
        repeat: eos
  materials:
    seq:
      - id: records
        type: material
        repeat: eos
  textures:
    seq:
      - id: records
        type: texture
        repeat: eos
  vertices:
    seq:
      - id: records
        type: vertex
        repeat: eos
  entity:
    seq:
      - id: entity_id
        type: u4
      - id: parent_entity_id
        type: u4
      - id: name_offset
        type: u4
      - id: first_mesh_record_index
        type: u4
      - id: mesh_record_count
        type: u4
      - id: flags
        type: u4
      - id: local_bounds_min
        type: vec3
      - id: local_bounds_max
        type: vec3
      - id: world_bounds_min
        type: vec3
      - id: world_bounds_max
        type: vec3
      - id: local_transform
        type: f4
        repeat: expr
        repeat-expr: 16
    instances:
      name:
        io: _root.strings._io
        pos: name_offset
        type: strz
        if: name_offset != 0xffff_ffff
  mesh:
    seq:
      - id: entity_id
        type: u4
      - id: mesh_name_offset
        type: u4
      - id: material_index
        type: u4
      - id: index_type
        type: u4
        enum: index_type
      - id: vertex_count
        type: u4
      - id: index_count
        type: u4
      - id: vertex_stride_bytes
        type: u4
      - id: flags
        type: u4
      - id: vertex_data_offset
        type: u8
      - id: index_data_offset
        type: u8
      - id: vertex_data_size_bytes
        type: u8
      - id: index_data_size_bytes
        type: u8
      - id: estimated_gpu_bytes
        type: u8
      - id: reserved0
        type: u8
      - id: local_bounds_min
        type: vec3
      - id: local_bounds_max
        type: vec3
    instances:
      name:
        io: _root.strings._io
        pos: mesh_name_offset
        type: strz
        if: mesh_name_offset != 0xffff_ffff
  material:
    seq:
      - id: name_offset
        type: u4
      - id: flags
        type: u4
      - id: base_color_factor
        type: f4
        repeat: expr
        repeat-expr: 4
      - id: emissive_factor
        type: f4
        repeat: expr
        repeat-expr: 3
      - id: normal_scale
        type: f4
      - id: metallic_factor
        type: f4
      - id: roughness_factor
        type: f4
      - id: occlusion_strength
        type: f4
      - id: alpha_cutoff
        type: f4
      - id: base_color_texture_index
        type: u4
      - id: normal_texture_index
        type: u4
      - id: metallic_texture_index
        type: u4
      - id: roughness_texture_index
        type: u4
      - id: emissive_texture_index
        type: u4
      - id: occlusion_texture_index
        type: u4
      - id: height_texture_index
        type: u4
        if: _root.header.format_version >= 3
      - id: height_scale
        type: f4
        if: _root.header.format_version >= 3
      - id: height_midlevel
        type: f4
        if: _root.header.format_version >= 3
      - id: height_remap_min
        type: f4
        if: _root.header.format_version >= 4
      - id: height_remap_max
        type: f4
        if: _root.header.format_version >= 4
      - id: channels
        type: u4
      - id: reserved1
        type: u4
    instances:
      name:
        io: _root.strings._io
        pos: name_offset
        type: strz
        if: name_offset != 0xffff_ffff
      alpha_mode:
        value: flags & 3
      roughness_channel:
        value: channels & 3
      metallic_channel:
        value: channels >> 2 & 3
  texture:
    seq:
      - id: name_offset
        type: u4
      - id: uri_offset
        type: u4
      - id: texture_format
        type: u4
        enum: texture_format
      - id: flags
        type: u4
      - id: width
        type: u4
      - id: height
        type: u4
      - id: mip_count
        type: u4
      - id: reserved0
        type: u4
    instances:
      name:
        io: _root.strings._io
        pos: name_offset
        type: strz
        if: name_offset != 0xffff_ffff
      uri:
        io: _root.strings._io
        pos: uri_offset
        type: strz
        if: uri_offset != 0xffff_ffff
  vertex:
    seq:
      - id: position
        type: vec3
      - id: normal_packed
        type: u4
      - id: tangent_packed
        type: u4
      - id: uv0
        type: u2
        repeat: expr
        repeat-expr: 2
        doc: Half floats, which Kaitai Struct has no type for.
      - id: uv1
        type: u2
        repeat: expr
        repeat-expr: 2
      - id: color
        type: u1
        repeat: expr
        repeat-expr: 4
enums:
  file_type:
    1: tile
    2: lod
    3: hlod
    4: shared
  chunk_type:
    1: string_table
    2: entity_table
    3: mesh_table
    4: material_table
    5: texture_table
    6: vertex_data
    7: index_data
    8: skeleton_table
    9: skeleton_joint_table
    10: skin_table
    11: skin_joint_map
    12: animation_clip_table
    13: animation_channel_table
    14: translation_keys
    15: rotation_keys
    16: joint_indices
    17: joint_weights
    18: edge_index_data
    19: light_table
    20: camera_table
    21: color_management
    22: color_grade_lut
    23: morph_table
    24: morph_data
    25: gaussian_asset
    26: morph_driver
    27: muscle
  compression:
    0: none
    1: lz4
    2: zstd
    3: delta
  vertex_layout:
    1: pbr_static_v1
  index_type:
    1: uint16
    2: uint32
  texture_format:
    0: unknown
    1: rgba8
    2: bc7
    3: bc5
    4: astc4x4
    5: astc5x5
    6: astc6x6
    7: astc8x8
    8: rgba16float
    9: r16unorm
