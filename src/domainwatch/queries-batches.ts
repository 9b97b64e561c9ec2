import { defineBatch } from '../storage/database/batch.ts'
import { DOMAINS } from '../storage/database/tables.ts'

/** Records a domain or updates it in place. A record that is the same already is left alone, its date_mod too. */
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
  }),
  when: (at) => `domains.status <> excluded.status
    OR domains.reserved <> excluded.reserved
    OR domains.date_reg <> excluded.date_reg
    OR domains.agent <> COALESCE(${at.agent}, domains.agent)`,
})

/**
 * The same for a registration that a list tells of: it counts only where it is newer than what is recorded, so that a
 * list may be loaded late or again.
 */
export const recordRegistrations: typeof recordDomains = {
  ...recordDomains,
  when: () => 'excluded.date_reg > domains.date_reg',
}

/** The same for a deletion that a list tells of: what is recorded of a name stays, but that it is bought no more. */
export const recordDeletions: typeof recordDomains = {
  ...recordDomains,
  update: () => ({
    status: 'excluded.status',
    released_at: 'excluded.date_mod',
    date_mod: 'excluded.date_mod',
  }),
  when: () => 'domains.status = 1',
}

/** Records a domain in a state it had before, whatever is recorded now. */
export const restoreDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: DOMAINS.columns,
  insert: (at) => at,
  update: () => RESTORED,
  when: () =>
    Object.keys(RESTORED)
      .map((column) => `domains.${column} IS DISTINCT FROM excluded.${column}`)
      .join(' OR '),
})

/** The others follow from the name. */
const RESTORED = Object.fromEntries(
  Object.keys(DOMAINS.columns)
    .filter((column) => !['name', 'ascii', 'length'].includes(column))
    .map((column) => [column, `excluded.${column}`]),
)

const IS_DISCARDED = 'CASE WHEN domains.discarded_at IS NULL THEN 0 ELSE 1 END'

/** Sets the marks of a recorded domain. Marking what is marked already does not start the 7 days anew. */
export const markDomains = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { date_mod: 'text', marked_at: 'integer' },
  elements: {
    name: 'text',
    revision: 'integer',
    discarded: 'integer',
    reserved: 'integer',
    status: 'integer',
    agent: 'text',
    agent_folded: 'text',
  },
  update: (at) => ({
    date_mod: `CASE WHEN
      domains.revision = COALESCE(${at.revision}, domains.revision)
      AND ${IS_DISCARDED} = COALESCE(${at.discarded}, ${IS_DISCARDED})
      AND domains.reserved = COALESCE(${at.reserved}, domains.reserved)
      AND domains.status = COALESCE(${at.status}, domains.status)
      AND domains.agent = COALESCE(${at.agent}, domains.agent)
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
  }),
})
