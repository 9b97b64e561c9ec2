import { indexedRecord } from '../../src/domainwatch/list/hits.ts'
import { toColumn } from '../../src/domainwatch/filtered-record.ts'

type Listed = Parameters<typeof indexedRecord>[0]
type Given = Pick<Listed, 'name' | 'status' | 'date_reg'> & Partial<Omit<Listed, 'words'>>

/** Returns a record as the index has it, of which nothing is known but what is given. */
export const listedRecord = (words: readonly string[], given: Given) =>
  indexedRecord({
    words: toColumn(words),
    hidden: 0,
    agent: 'NIC Chile',
    reserved: 0,
    revision: 0,
    discarded_at: null,
    date_reg_known: 1,
    date_mod: given.date_reg,
    deleted_at: given.status === 0 ? given.date_reg : null,
    past_drops: 0,
    status_at: given.date_reg,
    seen_at: null,
    numbers: null,
    tags: null,
    ...given,
  })
