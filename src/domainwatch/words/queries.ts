import { defineBatch } from '../../storage/database/batch.ts'
import { limit, sql } from '../../storage/database/sql.ts'

/** Selects names in their order. */
export const namesAfter = (after: string, count: number) => sql<{ name: string }>`
  SELECT name FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}`

/** Stores the words of names. Not a change of the record, so it is not in the change log. */
export const setWords = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: { name: 'text', words: 'text' },
  update: (at) => ({ words: at.words }),
  when: (at) => `domains.words IS DISTINCT FROM ${at.words}`,
})

/** Selects the digest of the dictionary that all names are split by. */
export const splitBy = () => sql<{ digest: string }>`SELECT digest FROM name_splits`

export const setSplitBy = (digest: string) => sql`
  INSERT INTO name_splits (only_row, digest) VALUES (1, ${digest})
  ON CONFLICT (only_row) DO UPDATE SET digest = excluded.digest`
