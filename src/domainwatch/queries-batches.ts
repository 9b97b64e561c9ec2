import { defineBatch, type Assignments, type Expressions } from '../storage/database/batch.ts'

/** The columns that exports contain and imports restore. */
const DOMAIN_COLUMNS = {
  name: 'text',
  ascii: 'text',
  length: 'integer',
  agent: 'text',
  agent_folded: 'text',
  status: 'integer',
  reserved: 'integer',
  revision: 'integer',
  discarded_at: 'integer',
  date_reg: 'text',
  date_mod: 'text',
  released_at: 'text',
  seen_at: 'integer',
  seen_by: 'text',
  note: 'text',
  tags: 'text',
  words: 'text',
} as const

/** A new status makes a record unseen, because the decision was about the old one. */
const unseenBy = (status: string) => ({
  seen_at: `CASE WHEN domains.status = ${status} THEN domains.seen_at END`,
  seen_by: `CASE WHEN domains.status = ${status} THEN domains.seen_by END`,
})

/** Records a domain or updates it in place. Leaves an equal record unchanged, its date_mod included. */
export const recordDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { date_mod: 'text', account: 'text', account_folded: 'text' },
  elements: {
    name: 'text',
    ascii: 'text',
    length: 'integer',
    agent: 'text',
    agent_folded: 'text',
    status: 'integer',
    reserved: 'integer',
    date_reg: 'text',
    words: 'text',
  },
  insert: (at) => ({
    name: at.name,
    ascii: at.ascii,
    length: at.length,
    agent: `COALESCE(${at.agent}, ${at.account})`,
    agent_folded: `COALESCE(${at.agent_folded}, ${at.account_folded})`,
    status: at.status,
    reserved: at.reserved,
    date_reg: at.date_reg,
    date_mod: at.date_mod,
    words: at.words,
  }),
  update: (at) => ({
    released_at: `CASE
      WHEN excluded.status = 1 THEN NULL
      WHEN domains.status = 1 THEN excluded.date_mod
      ELSE domains.released_at
    END`,
    status: 'excluded.status',
    reserved: 'excluded.reserved',
    date_reg: 'excluded.date_reg',
    agent: `COALESCE(${at.agent}, domains.agent)`,
    agent_folded: `COALESCE(${at.agent_folded}, domains.agent_folded)`,
    date_mod: 'excluded.date_mod',
    ...unseenBy('excluded.status'),
  }),
  when: (at) => `domains.status <> excluded.status
    OR domains.reserved <> excluded.reserved
    OR domains.date_reg <> excluded.date_reg
    OR domains.agent <> COALESCE(${at.agent}, domains.agent)`,
})

/** The same for a registration from a list, if it is newer than the record: a list may be loaded late or repeatedly. */
export const recordRegistrations: typeof recordDomains = {
  ...recordDomains,
  when: () => 'excluded.date_reg > domains.date_reg',
}

/** The same for a deletion from a list: changes only the status of a recorded name. */
export const recordDeletions: typeof recordDomains = {
  ...recordDomains,
  update: () => ({
    status: 'excluded.status',
    released_at: 'excluded.date_mod',
    date_mod: 'excluded.date_mod',
    ...unseenBy('excluded.status'),
  }),
  when: () => 'domains.status = 1',
}

/** Records a domain in a state it had before. Decisions that the export lacks (`has_…` is 0) stay. */
export const restoreDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: {
    ...DOMAIN_COLUMNS,
    has_seen: 'integer',
    has_note: 'integer',
    has_tags: 'integer',
  },
  insert: ({ has_seen: _seen, has_note: _note, has_tags: _tags, ...columns }) => columns,
  update: (at) => restored(at),
  when: (at) =>
    Object.entries(restored(at))
      .map(([column, value]) => `domains.${column} IS DISTINCT FROM ${value}`)
      .join(' OR '),
})

type RestoredElements = Expressions<keyof typeof DOMAIN_COLUMNS | 'has_seen' | 'has_note' | 'has_tags'>

function restored(at: RestoredElements): Assignments {
  const kept = (has: string, column: string, otherwise = `domains.${column}`) =>
    `(CASE WHEN ${has} = 1 THEN excluded.${column} ELSE ${otherwise} END)`
  const unseen = unseenBy('excluded.status')
  return {
    ...RESTORED,
    seen_at: kept(at.has_seen, 'seen_at', unseen.seen_at),
    seen_by: kept(at.has_seen, 'seen_by', unseen.seen_by),
    note: kept(at.has_note, 'note'),
    tags: kept(at.has_tags, 'tags'),
  }
}

/** The others follow from the name. */
const RESTORED = Object.fromEntries(
  Object.keys(DOMAIN_COLUMNS)
    .filter((column) => !['name', 'ascii', 'length', 'words'].includes(column))
    .map((column) => [column, `excluded.${column}`]),
)

const IS_DISCARDED = 'CASE WHEN domains.discarded_at IS NULL THEN 0 ELSE 1 END'
const IS_SEEN = 'CASE WHEN domains.seen_at IS NULL THEN 0 ELSE 1 END'

/**
 * Sets the marks of a recorded domain. Marking a marked domain again neither restarts the 7 days nor changes who
 * has seen it. If the status changes too, `seen` is about the new one.
 */
export const markDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { date_mod: 'text', marked_at: 'integer', seen_at: 'integer', seen_by: 'text' },
  elements: {
    name: 'text',
    revision: 'integer',
    discarded: 'integer',
    reserved: 'integer',
    status: 'integer',
    agent: 'text',
    agent_folded: 'text',
    seen: 'integer',
    note: 'text',
    tags: 'text',
  },
  update: (at) => {
    const hasStatus = `domains.status = COALESCE(${at.status}, domains.status)`
    const seen = (column: string, now: string) => `CASE
      WHEN COALESCE(${at.seen}, CASE WHEN ${hasStatus} THEN ${IS_SEEN} ELSE 0 END) = 0 THEN NULL
      WHEN ${hasStatus} AND domains.seen_at IS NOT NULL THEN domains.${column}
      ELSE ${now}
    END`
    return {
      date_mod: `CASE WHEN
        domains.revision = COALESCE(${at.revision}, domains.revision)
        AND ${IS_DISCARDED} = COALESCE(${at.discarded}, ${IS_DISCARDED})
        AND domains.reserved = COALESCE(${at.reserved}, domains.reserved)
        AND ${hasStatus}
        AND domains.agent = COALESCE(${at.agent}, domains.agent)
        AND ${IS_SEEN} = COALESCE(${at.seen}, ${IS_SEEN})
        AND COALESCE(domains.note, '') = COALESCE(${at.note}, domains.note, '')
        AND COALESCE(domains.tags, '') = COALESCE(${at.tags}, domains.tags, '')
        THEN domains.date_mod ELSE ${at.date_mod} END`,
      released_at: `CASE
        WHEN ${at.status} IS NULL THEN domains.released_at
        WHEN ${at.status} = 1 THEN NULL
        WHEN domains.status = 1 THEN ${at.date_mod}
        ELSE domains.released_at
      END`,
      discarded_at: `CASE
        WHEN ${at.discarded} IS NULL THEN domains.discarded_at
        WHEN ${at.discarded} = 0 THEN NULL
        ELSE COALESCE(domains.discarded_at, ${at.marked_at})
      END`,
      revision: `COALESCE(${at.revision}, domains.revision)`,
      reserved: `COALESCE(${at.reserved}, domains.reserved)`,
      status: `COALESCE(${at.status}, domains.status)`,
      agent: `COALESCE(${at.agent}, domains.agent)`,
      agent_folded: `COALESCE(${at.agent_folded}, domains.agent_folded)`,
      seen_at: seen('seen_at', at.seen_at),
      seen_by: seen('seen_by', at.seen_by),
      // An empty text removes the note, or the tags.
      note: `NULLIF(COALESCE(${at.note}, domains.note), '')`,
      tags: `NULLIF(COALESCE(${at.tags}, domains.tags), '')`,
    }
  },
})
