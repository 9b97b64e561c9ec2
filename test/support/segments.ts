import type { FilteredRecord } from '../../src/domainwatch/filtered-record.ts'
import { indexedRecord, optionsFor } from '../../src/domainwatch/list/hits.ts'
import { toColumns, Segment, type Order } from '../../src/lib/name-index/index.ts'

/** The fields of a record that a test does not care about. */
const PLAIN: Omit<FilteredRecord, 'name'> = {
  agent: 'grupo',
  status: 1,
  reserved: 0,
  revision: 0,
  discarded_at: null,
  date_reg: '2025-01-02 03:04:05',
  date_reg_known: 1,
  date_mod: '2025-01-02 03:04:05',
  deleted_at: null,
  past_drops: 0,
  status_at: null,
  seen_at: null,
  numbers: null,
  tags: null,
  words: null,
  hidden: 0,
}

export type SomeFields = Partial<FilteredRecord> & Pick<FilteredRecord, 'name'>

/** A segment of the index with these records. */
export function getSegment(records: readonly SomeFields[], order: Order = 'registered'): Segment {
  const indexed = records.map((fields) => indexedRecord({ ...PLAIN, ...fields }))
  return new Segment(toColumns(indexed, optionsFor(order)))
}
