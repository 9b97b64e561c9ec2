import { defineBatch, type Assignments, type Expressions } from '../storage/database/batch.ts'

/** A new status makes a record unseen, because the decision was about the old one. */
const unseenBy = (status: string) => ({
  seen_at: `CASE WHEN domains.status = ${status} THEN domains.seen_at END`,
  seen_by: `CASE WHEN domains.status = ${status} THEN domains.seen_by END`,
})

/** When the record gets its status. */
const since = (status: string, now: string) =>
  `CASE WHEN domains.status <> ${status} THEN ${now} ELSE domains.status_at END`

/** What the dismissal of a name tells about the record that is added for it. */
const ofDismissed = (value: string, name: string) =>
  `(SELECT ${value} FROM dismissed WHERE dismissed.name = ${name})`

/** The last deletion of a dismissed name, which a record that is added as registered keeps: only a later one frees it. */
const lastDismissedDeletion = (name: string) =>
  ofDismissed('COALESCE(released_at, CASE status WHEN 0 THEN date_reg END)', name)

/**
 * What else changes when a member states the status of a record. The last deletion of a bought record is kept: only a later one
 * frees it.
 * @param status the stated one; NULL for none
 * @param now when it is deleted, if it is stated to be free
 */
const stated = (status: string, now: string) => {
  const deletion = (column: string) => `CASE
    WHEN ${status} = 1 THEN COALESCE(domains.deleted_at, domains.released_at)
    WHEN ${status} = 0 AND domains.status = 1 THEN ${now}
    ELSE domains.${column}
  END`
  const whileFree = (column: string) => `CASE WHEN ${status} = 1 THEN NULL ELSE domains.${column} END`
  return {
    status_at: since(status, now),
    released_at: deletion('released_at'),
    deleted_after: deletion('deleted_after'),
    past_drops: `CASE WHEN ${status} = 1 AND domains.status = 0 THEN domains.past_drops + 1 ELSE domains.past_drops END`,
    announce_as: whileFree('announce_as'),
    announce_at: whileFree('announce_at'),
    announce_for: whileFree('announce_for'),
  }
}

/** The numbers that were imported for a name, which a new record gets. */
export const importedNumbers = (name: string) =>
  `(SELECT numbers.numbers FROM numbers WHERE numbers.name = ${name})`

/** What every batch of new records has of each. */
const RECORD = {
  name: 'text',
  ascii: 'text',
  length: 'integer',
  agent: 'text',
  agent_folded: 'text',
  status: 'integer',
  reserved: 'integer',
  date_reg: 'text',
  words: 'text',
} as const

/** What members decide on a record. */
const DECIDED = {
  revision: 'integer',
  discarded_at: 'integer',
  seen_at: 'integer',
  seen_by: 'text',
  note: 'text',
  tags: 'text',
} as const

/** Records a domain or updates it in place. Leaves an equal record unchanged, its date_mod included. */
export const recordDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { date_mod: 'text', account: 'text', account_folded: 'text' },
  elements: RECORD,
  insert: ({ account, account_folded, ...at }) => ({
    ...at,
    agent: `COALESCE(${at.agent}, ${account})`,
    agent_folded: `COALESCE(${at.agent_folded}, ${account_folded})`,
    status_at: at.date_mod,
    released_at: `CASE WHEN ${at.status} = 1 THEN ${lastDismissedDeletion(at.name)} END`,
    deleted_after: `CASE WHEN ${at.status} = 1 THEN ${lastDismissedDeletion(at.name)} ELSE ${at.date_reg} END`,
    past_drops: `COALESCE(${ofDismissed(
      `past_drops + CASE WHEN dismissed.status = 0 AND ${at.status} = 1 THEN 1 ELSE 0 END`,
      at.name,
    )}, 0)`,
    dismissed_by: ofDismissed('dismissed_by', at.name),
    dismissed_at: ofDismissed('dismissed_at', at.name),
    numbers: importedNumbers(at.name),
  }),
  update: (at) => {
    const { deleted_after, ...others } = stated('excluded.status', 'excluded.date_mod')
    return {
      ...others,
      // The date of a record that was added as free is also that of its deletion.
      deleted_after: `CASE WHEN domains.status = 0 AND excluded.status = 0 AND domains.released_at IS NULL
        THEN excluded.date_reg ELSE ${deleted_after} END`,
      status: 'excluded.status',
      reserved: 'excluded.reserved',
      date_reg: 'excluded.date_reg',
      date_reg_known: '1',
      agent: `COALESCE(${at.agent}, domains.agent)`,
      agent_folded: `COALESCE(${at.agent_folded}, domains.agent_folded)`,
      date_mod: 'excluded.date_mod',
      ...unseenBy('excluded.status'),
    }
  },
  when: (at) => `domains.status <> excluded.status
    OR domains.reserved <> excluded.reserved
    OR domains.date_reg <> excluded.date_reg
    OR domains.date_reg_known = 0
    OR domains.agent <> COALESCE(${at.agent}, domains.agent)`,
})

/** Records a domain in a state it had before. Decisions that the export lacks (`has_…` is 0) stay. */
export const restoreDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: {
    ...RECORD,
    ...DECIDED,
    date_reg_known: 'integer',
    date_mod: 'text',
    released_at: 'text',
    deleted_after: 'text',
    dismissed_by: 'text',
    dismissed_at: 'integer',
    has_seen: 'integer',
    has_note: 'integer',
    has_tags: 'integer',
  },
  insert: ({ has_seen: _seen, has_note: _note, has_tags: _tags, ...columns }) => ({
    ...columns,
    date_reg_known: `COALESCE(${columns.date_reg_known}, 1)`,
    status_at: columns.date_mod,
    numbers: importedNumbers(columns.name),
  }),
  update: (at) => restored(at),
  when: (at) =>
    Object.entries(restored(at))
      .map(([column, value]) => `domains.${column} IS DISTINCT FROM ${value}`)
      .join(' OR '),
})

type RestoredElements =
  'date_reg_known' | 'dismissed_by' | 'dismissed_at' | 'has_seen' | 'has_note' | 'has_tags'

function restored(at: Expressions<RestoredElements>): Assignments {
  const kept = (has: string, column: string, otherwise = `domains.${column}`) =>
    `(CASE WHEN ${has} = 1 THEN excluded.${column} ELSE ${otherwise} END)`
  const given = (column: 'date_reg_known' | 'dismissed_by' | 'dismissed_at') =>
    `COALESCE(${at[column]}, domains.${column})`
  const unseen = unseenBy('excluded.status')
  return {
    ...RESTORED,
    status_at: since('excluded.status', 'excluded.date_mod'),
    // An export does not tell past deletions of bought records, nor always since when a free one may be deleted.
    released_at: `(CASE WHEN excluded.status = 1 THEN domains.released_at ELSE excluded.released_at END)`,
    deleted_after: `(CASE WHEN excluded.status = 1 THEN domains.deleted_after
      WHEN domains.status = 0 AND excluded.released_at IS NOT DISTINCT FROM domains.released_at
        THEN COALESCE(excluded.deleted_after, domains.deleted_after)
      ELSE excluded.deleted_after END)`,
    date_reg_known: given('date_reg_known'),
    dismissed_by: given('dismissed_by'),
    dismissed_at: given('dismissed_at'),
    seen_at: kept(at.has_seen, 'seen_at', unseen.seen_at),
    seen_by: kept(at.has_seen, 'seen_by', unseen.seen_by),
    note: kept(at.has_note, 'note'),
    tags: kept(at.has_tags, 'tags'),
  }
}

/** What every export has. The others follow from the name, or are missing in some. */
const RESTORED = Object.fromEntries(
  ['agent', 'agent_folded', 'status', 'reserved', 'revision', 'discarded_at', 'date_reg', 'date_mod'].map(
    (column) => [column, `excluded.${column}`],
  ),
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
      ...stated(at.status, at.date_mod),
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

/** Gives records the marks that they had before. */
export const restoreMarks = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { date_mod: 'text' },
  elements: { name: 'text', reserved: 'integer', ...DECIDED },
  update: ({ name: _name, ...columns }) => columns,
})
