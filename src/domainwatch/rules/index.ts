import type { Clock } from '../../lib/clock.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Database, Reader, Transaction } from '../../storage/database/database.ts'
import { lockInstance } from '../../storage/database/dialect.ts'
import { domainErrors } from '../errors.ts'
import type { SplitName } from '../words/dictionary.ts'
import * as queries from './queries.ts'
import type { ActiveRule, RuleProperties, RuleRow } from './queries.ts'
import { RuleSet } from './rule-set.ts'
import { tagChanged } from './tag-changed.ts'

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
