import { ApiError, callApi } from '../../api/client.ts'
import { recordErrorMessage } from '../../api/error-message.ts'
import { queryClient } from '../../api/query-client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { getAccount } from '../../api/scope.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { localTime } from '../../base/server.ts'
import { type Change, storeWithRetries } from '../domains/changes.ts'
import { namesOrCount, toSubject } from '../domains/marks.ts'
import { readRecord } from '../domains/records.ts'
import {
  type OperationHandle,
  type OperationOutcome,
  type OperationSpec,
  runOperation,
} from '../work/operations.ts'
import { t, tn } from '../../i18n/index.ts'
import { listPages } from '../../api/client.ts'

/** Common values of all names of one paste. */
export interface CommonValues {
  readonly status: 0 | 1
  readonly reserve: 0 | 1
  /** `YYYY-MM-DD HH:MM:SS`, in the time zone of the service. */
  readonly date: string
  /** Empty for the account itself. */
  readonly agent: string
}

/** Maximum repetitions: an answer lists only the first rejected records, and the rest is sent again without them. */
const MAX_ATTEMPTS = 12

/** Difference of clocks, and names looked up while they were recorded. */
const SLACK_MS = 5_000
const MAX_PAGE_ROWS = 1_000
/** With more changes than these, as during an import, each name is looked up again. */
const MAX_PAGES = 20
/** A browser opens six connections to a host: some stay free for the rest of the page. */
const MAX_RUNNING = 4

/**
 * Records new names. Names that the service rejects do not affect the others and are reported with the reason, and so
 * are those that someone recorded since they were looked up: adding them would replace what they decided.
 * @param askedAt when the names were looked up, by the service's clock
 */
export function addNames(
  names: readonly string[],
  facts: CommonValues,
  askedAt: number,
): OperationHandle | undefined {
  let stored = names
  const takenBack = new Set<string>()
  const what = namesOrCount(names)
  return runOperation({
    subjects: names.map(toSubject),
    pending: t('add.adding', { what }),
    failed: (reason) => t('add.failed', { what, reason }),
    undo: () => undoAdd(() => stored, takenBack),
    async run({ onWait }): Promise<OperationOutcome> {
      const refused = await store(names, facts, askedAt, onWait)
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      stored = names.filter((name) => !refused.has(name))
      const done = tn('add.added', stored.length)
      const text = stored.length === 1 ? `${done}: ${stored[0]}.cl` : done
      if (refused.size === 0) return { text }
      const [[name, reason] = ['', '']] = refused
      const others = refused.size > 1 ? ` ${t('domains.andMore', { n: refused.size - 1 })}` : ''
      return {
        text: `${text}. ${t('add.refused', { what: `${name}.cl${others}`, reason })}`,
        isError: true,
      }
    },
  })
}

/** Returns which of these names, which were not recorded then, were recorded since a time of the service. */
async function recordedSince(time: number, names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const query = {
    modified_from: localTime(time - SLACK_MS),
    order: 'modified',
    limit: MAX_PAGE_ROWS,
  } as const
  const fetchPage = (cursor: string | undefined) =>
    callApi('GET /api/v1/domainwatch/list', { query: { ...query, cursor } })
  for await (const { data, next } of listPages(fetchPage, MAX_PAGES)) {
    for (const { name } of data.data[0] ?? []) if (names.has(name)) found.add(name)
    if (next === undefined) return found
  }
  const slots = createLimiter(MAX_RUNNING)
  const look = async (name: string) => {
    if ((await readRecord(name)) !== null) found.add(name)
  }
  await Promise.all([...names].map((name) => slots.run(() => look(name))))
  return found
}

/** Returns the rejected names with the reasons. Throws if none was stored. */
async function store(
  names: readonly string[],
  facts: CommonValues,
  askedAt: number,
  onWait: () => void,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>()
  const left = () => names.filter((name) => !refused.has(name))
  let sent: readonly string[] = []
  await untilAnswered(async () => {
    // After a lost response: a batch is atomic, so one of its names shows whether it was stored.
    const [first] = sent
    if (first !== undefined && (await readRecord(first))?.date_reg === facts.date) return
    // Also before each repetition, because others may have added names during an outage.
    for (const name of await recordedSince(askedAt, new Set(left())))
      refused.set(name, t('add.takenMeanwhile'))
    for (let attempt = 1; ; attempt++) {
      sent = left()
      const [[, reason] = ['', '']] = refused
      if (sent.length === 0) throw new Error(reason)
      try {
        await send(sent, facts)
        return
      } catch (error) {
        const faults = error instanceof ApiError ? error.errors : []
        for (const fault of faults) refused.set(sent[fault.index] ?? '', recordErrorMessage(fault))
        if (left().length === sent.length || attempt === MAX_ATTEMPTS) throw error
      }
    }
  }, onWait)
  return refused
}

async function send(names: readonly string[], facts: CommonValues): Promise<void> {
  const { status, reserve, date, agent } = facts
  const data = names.map((domain) => ({
    domain,
    length: domain.length,
    reserve,
    status,
    date_reg: date,
    ...(agent === '' ? {} : { agent }),
  }))
  await callApi('POST /api/v1/domainwatch/add', { body: { data } })
}

const BATCH = 250

/**
 * Takes added names back: the service keeps records, so they are discarded, and delete themselves a week later. Only those
 * whose whole history is that this account added them; what was recorded before or touched since stays as it is.
 * @param getAdded returns the names that a gesture added, as far as they are known
 * @param takenBack names that attempts have taken back
 */
function undoAdd(getAdded: () => readonly string[], takenBack: Set<string>): OperationSpec {
  const names = getAdded()
  const what = namesOrCount(names)
  return {
    subjects: names.map(toSubject),
    pending: t('domains.undoing', { what }),
    failed: (reason) => t('domains.undoFailed', { what, reason }),
    async run({ onWait }) {
      const slots = createLimiter(MAX_RUNNING)
      const surely = <T>(work: () => Promise<T>) => untilAnswered(work, onWait)
      // Those that the service refused are known by now.
      const added = getAdded()
      const left = added.filter((name) => !takenBack.has(name))
      const undoing = await Promise.all(left.map((name) => slots.run(() => surely(() => toUndoing(name)))))
      const changes = undoing.flat()
      for (let i = 0; i < changes.length; i += BATCH) {
        const batch = changes.slice(i, i + BATCH)
        const refused = await storeWithRetries(batch, surely)
        for (const { domain } of batch) if (!refused.has(domain)) takenBack.add(domain)
      }
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      const kept = added.length - takenBack.size
      const text = tn('add.takenBack', takenBack.size)
      return kept === 0 ? { text } : { text: `${text} ${tn('add.notTakenBack', kept)}`, isError: true }
    },
  }
}

/** Returns the change that takes a name back; none unless all that ever happened to it is that this account added it. */
async function toUndoing(domain: string): Promise<readonly Change[]> {
  const { data } = await callApi('GET /api/v1/domainwatch/history', { query: { domain, limit: 2 } })
  const [only, ...others] = data.data
  const addedAt = only?.from === null && only.account === getAccount('domainwatch') && only.to?.['date_mod']
  if (typeof addedAt !== 'string' || others.length > 0) return []
  return [
    { domain, set: { discarded: 1 }, expect: { discarded: 0, seen: 0, revision: 0, date_mod: addedAt } },
  ]
}
