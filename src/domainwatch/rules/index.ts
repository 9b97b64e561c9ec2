import { compileParameters, type Values } from '../../http/parameters.ts'
import {
  FilterContext,
  changedRecord,
  MAX_TAGS,
  splitTags,
  toColumn,
  type FilteredRecord,
} from '../filtered-record.ts'
import {
  filterParameters,
  letsThrough,
  readFilters,
  type Filters,
  parseSavedFilters,
  type SavedFilters,
} from '../filters.ts'
import type { ActiveRule, RuleProperties, RuleRow } from './queries.ts'
import { toChange, DOMAIN_FIELDS, type Change } from '../../storage/database/changes/change.ts'
import { encodeRows } from '../../storage/database/batch.ts'
import { type Transaction, type Database, type Reader, randomId } from '../../storage/database/database.ts'
import { type Dialect, lockInstance } from '../../storage/database/dialect.ts'
import type { SplitName } from '../words.ts'
import type { Clock } from '../../lib/clock.ts'
import { domainErrors } from '../errors.ts'
import * as queries from './queries.ts'

const {
  hidden: _hidden,
  seen: _seen,
  age_min: _age,
  objection: _objection,
  demand_min: _demand,
  twin: _twin,
  ...ofRecords
} = filterParameters

/**
 * The filters of rules: those whose answer changes with the record alone. What a rule hides must not depend on the time, on other rules
 * or records, nor on who has looked at it.
 */
export const ruleFilters = ofRecords

/** What the other parameters are read as. */
const NOT_GIVEN = {
  hidden: undefined,
  seen: undefined,
  age_min: undefined,
  objection: undefined,
  demand_min: undefined,
  twin: undefined,
}
/** The filters that rules do not take. */
export const NOT_IN_RULES: readonly string[] = Object.keys(NOT_GIVEN)

/** @throws HttpError 400 for `agent` without `search` */
export const toFilters = (values: Values<typeof ruleFilters>): Filters =>
  readFilters({ ...values, ...NOT_GIVEN })

const parseRuleFilters = compileParameters(ruleFilters)

/** Reads the filters of a rule. Returns undefined for those of another version that this one rejects. */
export function readRuleFilters(saved: SavedFilters): Filters | undefined {
  const parsed = parseRuleFilters(saved)
  return parsed.ok ? toFilters(parsed.values) : undefined
}

/** No filter of a rule looks at the time or at other records, and a rule matches a discarded record as long as there is one. */
export const ANY_TIME = new FilterContext(Number.NEGATIVE_INFINITY, 'UTC', {
  getDemand: () => null,
  hasBoughtTwin: () => false,
  firstTwins: () => [],
})

interface TagRule {
  readonly tag: string
  readonly filters: Filters
}

/** What the rules do at one moment, compiled. A rule that this version cannot read does nothing. */
export class RuleSet {
  /** Grows with each change of the rules. */
  readonly version: number
  /** The filters of the rules that hide records. */
  readonly hiding: readonly SavedFilters[]
  readonly #hidden: readonly Filters[]
  readonly #tagging: readonly TagRule[]

  constructor(version: number, rules: readonly ActiveRule[]) {
    this.version = version
    const saved = rules.map(({ filters, tag }) => ({ tag, read: parseSavedFilters(filters) }))
    this.hiding = saved.filter(({ tag }) => tag === null).map(({ read }) => read)
    this.#hidden = this.hiding.flatMap((read) => readRuleFilters(read) ?? [])
    this.#tagging = saved.flatMap(({ tag, read }) => {
      const filters = tag === null ? undefined : readRuleFilters(read)
      return tag === null || filters === undefined ? [] : { tag, filters }
    })
  }

  get hasTags(): boolean {
    return this.#tagging.length > 0
  }

  readonly hides = (record: FilteredRecord): boolean =>
    this.#hidden.some((filters) => letsThrough(filters, record, ANY_TIME))

  /** The tags that rules give to a record. */
  tagsFor(record: FilteredRecord): readonly string[] {
    return this.#tagging.flatMap(({ tag, filters }) => (letsThrough(filters, record, ANY_TIME) ? tag : []))
  }
}

/** Changes read at a time: some 5 ms of work. */
const CHANGES_AT_A_TIME = 1_000
const TAGS = DOMAIN_FIELDS.indexOf('tags')

/**
 * Gives records that this transaction has recorded, or whose status it has changed, the tags of the rules. The tags belong to the
 * change that they follow from: followers, events and history see one change.
 * @param before the newest change before its writes
 */
async function tagChanged(
  tx: Transaction,
  dialect: Dialect,
  rules: RuleSet,
  split: SplitName,
  before: number,
): Promise<void> {
  const tagged = new Map<string, { readonly tags: string; readonly id: number; readonly after: string }>()
  let last = before
  for (let isMore = true; isMore;) {
    const rows = await tx.values(queries.ownChanges(dialect, last, CHANGES_AT_A_TIME))
    for (const row of rows) {
      const change = toChange(row, '')
      const id = Number(row[0])
      last = id
      const tags = change && tagsAfter(change, rules, split)
      if (change === undefined || tags === undefined) continue
      const state: unknown[] = JSON.parse(String(row.at(-1)))
      state[TAGS] = tags
      tagged.set(change.key, { tags, id, after: JSON.stringify(state) })
    }
    isMore = rows.length === CHANGES_AT_A_TIME
  }
  if (tagged.size === 0) return
  const records = [...tagged].map(([name, { tags }]) => ({ name, tags }))
  await tx.runMany(queries.setTags, [], encodeRows(queries.setTags, records))
  await tx.run(queries.deleteOwnChanges(dialect, last))
  await tx.runMany(queries.amendChanges, [], encodeRows(queries.amendChanges, tagged.values()))
}

/** Returns the tags of a record after a change, as the column holds them; undefined if the rules add none. */
function tagsAfter({ key, before, after }: Change, rules: RuleSet, split: SplitName): string | undefined {
  if (after === null || before?.['status'] === after['status']) return undefined
  const record = changedRecord(key, after, split)
  const present = splitTags(record.tags)
  const tags = [...new Set([...present, ...rules.tagsFor(record)])].slice(0, MAX_TAGS)
  return tags.length === present.length ? undefined : (toColumn(tags) ?? undefined)
}

/** Rules of the group. */
export const MAX_RULES = 200

/** The rules by which the group hides and tags records. Every node applies a change of them from its commit on. */
export class Rules {
  readonly #database: Database
  readonly #split: SplitName
  #known = new RuleSet(-1, [])

  constructor(database: Database, split: SplitName) {
    this.#database = database
    this.#split = split
  }

  /** Returns what the rules do now. @param reader a transaction that must not miss a change before it */
  async current(reader: Reader = this.#database): Promise<RuleSet> {
    const { version = 0 } = (await reader.first(queries.rulesVersion())) ?? {}
    if (version === this.#known.version) return this.#known
    const rows = await reader.all(queries.activeRules())
    const active = rows.flatMap(({ tag, filters }): ActiveRule[] =>
      filters === null ? [] : [{ tag, filters }],
    )
    const read = new RuleSet(rows[0]?.version ?? 0, active)
    // A later read may have ended before.
    if (read.version > this.#known.version) this.#known = read
    return read
  }

  /** Writes records in a transaction, and tags those that it recorded or whose status it changed. */
  async tagging<T>(tx: Transaction, write: () => Promise<T>): Promise<T> {
    const rules = await this.current(tx)
    if (!rules.hasTags) return write()
    const before = (await tx.newestChange()) ?? 0
    const written = await write()
    await tagChanged(tx, this.#database.dialect, rules, this.#split, before)
    return written
  }

  list(): Promise<readonly RuleRow[]> {
    return this.#database.all(queries.allRules())
  }

  /** @throws HttpError 409 if the group has its maximum */
  create(account: number, rule: RuleProperties, clock: Clock): Promise<string> {
    return this.#change(account, async (tx) => {
      const { count = 0 } = (await tx.first(queries.countRules())) ?? {}
      if (count >= MAX_RULES) throw domainErrors.too_many_rules(MAX_RULES)
      const id = randomId()
      await tx.run(queries.insertRule(id, account, rule, clock.now()))
      return id
    })
  }

  /** @param edit returns what the rule becomes @throws HttpError 404 */
  edit(account: number, id: string, edit: (rule: RuleProperties) => RuleProperties): Promise<void> {
    return this.#change(account, async (tx) => {
      const rule = await tx.first(queries.ruleById(id))
      if (rule === undefined) throw domainErrors.rule_not_found()
      await tx.run(queries.updateRule(id, edit(rule)))
    })
  }

  /** @throws HttpError 404 */
  remove(account: number, id: string): Promise<void> {
    return this.#change(account, async (tx) => {
      if ((await tx.run(queries.deleteRule(id))) === 0) throw domainErrors.rule_not_found()
    })
  }

  #change<T>(account: number, change: (tx: Transaction) => Promise<T>): Promise<T> {
    const { dialect } = this.#database
    return this.#database.transaction(async (tx) => {
      await tx.all(lockInstance(dialect))
      const changed = await change(tx)
      await tx.run(queries.countChange())
      return changed
    }, account)
  }
}
