// Writes one table with every writer, codec, encoding and page version at hand: node write.mjs FOLDER [ROWS [DIMENSION [PATTERN]]]
// PATTERN: of the names of the files that are wanted
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as arrow from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
const require = createRequire(import.meta.url)
const wasm = require('parquet-wasm/node')
const folder = process.argv[2], rows = Number(process.argv[3] ?? 5000), dimension = Number(process.argv[4] ?? 12)
const wanted = new RegExp(process.argv[5] ?? '')
const group = Math.ceil(rows * 0.34), page = rows * dimension / 3
// The same pseudo-random numbers everywhere.
let state = 12345
const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648 - 0.5
const points = Array.from({ length: rows }, () => Float32Array.from({ length: dimension }, () => Math.round(random() * 200) / 100))
const ids = points.map((_, i) => `row-${(i * 7919) % rows}`)
// Rows that are null, in half of the files.
const holes = (i) => i % 97 === 3
const flat = new Float32Array(rows * dimension)
points.forEach((p, i) => flat.set(p, i * dimension))
const npy = (name, values) => {
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${dimension}), }`
  const pad = 64 - ((10 + head.length + 1) % 64)
  const text = head + ' '.repeat(pad % 64) + '\n'
  const b = Buffer.alloc(10)
  b.write('\x93NUMPY', 'latin1'); b[6] = 1; b.writeUInt16LE(text.length, 8)
  writeFileSync(`${folder}/${name}`, Buffer.concat([b, Buffer.from(text), Buffer.from(values.buffer)]))
}
npy('whole.npy', flat)
const holed = flat.slice()
points.forEach((_, i) => { if (holes(i)) holed.fill(NaN, i * dimension, (i + 1) * dimension) })
npy('holes.npy', holed)
writeFileSync(`${folder}/ids.txt`, ids.join('\n') + '\n')

// hyparquet-writer
const listSchema = (type, optional) => [
  { name: 'root', num_children: 2 },
  { name: 'embedding', repetition_type: optional ? 'OPTIONAL' : 'REQUIRED', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: optional ? 'OPTIONAL' : 'REQUIRED', type },
  { name: 'id', repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
]
for (const [codec, encoding] of [['UNCOMPRESSED', 'PLAIN'], ['SNAPPY', 'PLAIN'], ['SNAPPY', 'BYTE_STREAM_SPLIT'], ['SNAPPY', undefined]])
  for (const nulls of [false, true])
    for (const type of ['FLOAT', 'DOUBLE']) {
      const data = points.map((p, i) => (nulls && holes(i) ? null : Array.from(p)))
      const name = `hy-${codec}-${encoding}-${type}-${nulls ? 'holes' : 'whole'}.parquet`
      if (wanted.test(name)) writeFileSync(`${folder}/${name}`, Buffer.from(parquetWriteBuffer({
        columnData: [{ name: 'embedding', data, encoding }, { name: 'id', data: ids }],
        schema: listSchema(type, nulls), codec, rowGroupSize: group, pageSize: page })))
    }

// parquet-wasm
const vector = (nulls, type, fixed) => {
  const item = new arrow.Field('item', type, true)
  const list = fixed ? new arrow.FixedSizeList(dimension, item) : new arrow.List(item)
  const builder = arrow.makeBuilder({ type: list, nullValues: [null] })
  points.forEach((p, i) => builder.append(nulls && holes(i) ? null : Array.from(p)))
  return builder.finish().toVector()
}
for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'LZ4_RAW'])
  for (const version of ['V1', 'V2'])
    for (const dictionary of [true, false])
      for (const nulls of [false, true]) {
        const name = `wasm-${codec}-${version}-${dictionary ? 'dictionary' : 'plain'}-${nulls ? 'holes' : 'whole'}.parquet`
        if (!wanted.test(name)) continue
        const fixed = codec === 'ZSTD' && !nulls
        const table = new arrow.Table({ embedding: vector(nulls, new arrow.Float32(), fixed), id: arrow.vectorFromArray(ids, new arrow.Utf8()) })
        let properties = new wasm.WriterPropertiesBuilder().setCompression(wasm.Compression[codec]).setDictionaryEnabled(dictionary)
          .setWriterVersion(wasm.WriterVersion[version]).setMaxRowGroupSize(group).setDataPageSizeLimit(page)
        if (!dictionary) properties = properties.setColumnEncoding('id', wasm.Encoding.PLAIN)
        const bytes = wasm.writeParquet(wasm.Table.fromIPCStream(arrow.tableToIPC(table, 'stream')), properties.build())
        writeFileSync(`${folder}/${name}`, bytes)
      }

// DuckDB
const { DuckDBInstance } = await import('@duckdb/node-api')
const db = await (await DuckDBInstance.create(':memory:')).connect()
writeFileSync(`${folder}/rows.csv`, 'id,v\n' + points.map((p, i) => `${ids[i]},"[${Array.from(p).map((v) => Math.fround(v)).join(',')}]"`).join('\n') + '\n')
for (const codec of ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw'])
  for (const version of ['V1', 'V2'])
    for (const nulls of [false, true])
      for (const type of ['FLOAT[]', `FLOAT[${dimension}]`, 'DOUBLE[]']) {
        const name = `duck-${codec}-${version}-${type.replace(/\W/g, '')}-${nulls ? 'holes' : 'whole'}.parquet`
        if (wanted.test(name)) await db.run(`COPY (SELECT ${nulls ? `(CASE WHEN (rowid - 3) % 97 = 0 THEN NULL ELSE v END)::FLOAT[]::${type}` : `v::FLOAT[]::${type}`} AS embedding, id, rowid::BIGINT AS number, rowid::UINTEGER AS small
          FROM (SELECT id, v, row_number() OVER () - 1 AS rowid FROM read_csv('${folder}/rows.csv', header = true, columns = {'id': 'VARCHAR', 'v': 'VARCHAR'})))
          TO '${folder}/${name}' (FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 2048)`)
      }
