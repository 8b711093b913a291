// How many rows of what asterism wrote join with what it read: node join.mjs, where roundtrip.sh has left its files
import { DuckDBInstance } from '@duckdb/node-api'
const db = await (await DuckDBInstance.create(':memory:')).connect()
const queries = [
  `SELECT count(*) FROM 'text.parquet' JOIN 'duck-zstd-V1-FLOAT-whole.parquet' USING (id)`,
  `SELECT count(*) FROM 'number.parquet' a JOIN 'duck-zstd-V1-FLOAT-whole.parquet' b ON a.id = b.number`,
  `SELECT count(*) FROM 'text.parquet' a JOIN 'text.csv' b ON a.id = b.id AND a.cluster = b.cluster AND abs(a.similarity - b.similarity) < 1e-6`,
  `SELECT count(similarity) FROM 'rows.parquet'`,
]
const counts = []
for (const query of queries) counts.push((await (await db.run(query)).getRows())[0][0])
console.log(counts.join(' '))
