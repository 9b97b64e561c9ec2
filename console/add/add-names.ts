import { ApiError, ask, ConnectionLost } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { accountOf } from '../api/scope.ts'
import { keyFor } from '../api/session.ts'
import { perform, type Handle, type Outcome } from '../app/operations.ts'
import { subjectOf } from '../domains/marks.ts'
import { readRecord } from '../domains/read-records.ts'
import { t, tn } from '../i18n/index.ts'
import { takeBack } from './undo-add.ts'

/** Common values of all names of one paste. */
export interface Facts {
  readonly status: 0 | 1
  readonly reserve: 0 | 1
  /** `YYYY-MM-DD HH:MM:SS`, in the time zone of the service. */
  readonly date: string
  /** Empty for the account itself. */
  readonly agent: string
}

/** Maximum repetitions: an answer lists at most 100 rejected records, and the rest is sent again without them. */
const MAX_ATTEMPTS = 12

/** Records new names. Names that the service rejects do not affect the others and are reported with the reason. */
export function addNames(names: readonly string[], facts: Facts): Handle | undefined {
  const key = keyFor('domainwatch')
  const account = accountOf('domainwatch')
  let stored = names
  const what = names.length === 1 ? `${names[0]}.cl` : tn('domains.rows', names.length)
  return perform({
    subjects: names.map(subjectOf),
    pending: t('add.adding', { what }),
    failed: (reason) => t('add.failed', { what, reason }),
    undo: () =>
      takeBack(key, () => ({
        records: stored.map((name) => ({ name, length: [...name].length, date_reg: facts.date })),
        account,
      })),
    async run(): Promise<Outcome> {
      const refused = await store(key, names, facts)
      await queries.invalidateQueries({ queryKey: ['domains'] })
      stored = names.filter((name) => !refused.has(name))
      const done = tn('add.added', stored.length)
      const text = stored.length === 1 ? `${done}: ${stored[0]}.cl` : done
      if (refused.size === 0) return { text }
      const [[name, reason] = ['', '']] = refused
      const others = refused.size > 1 ? ` ${t('domains.andMore', { n: refused.size - 1 })}` : ''
      return {
        text: `${text}. ${t('add.refused', { what: `${name}.cl${others}`, reason })}`,
        isFault: true,
      }
    },
  })
}

/** Returns the rejected names with the reasons. Throws if none was stored. */
async function store(
  key: string | undefined,
  names: readonly string[],
  facts: Facts,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>()
  let rest = names
  for (let attempt = 1; ; attempt++) {
    try {
      await send(key, rest, facts)
      return refused
    } catch (error) {
      const faults = error instanceof ApiError ? error.errors : []
      for (const { index, msg } of faults) refused.set(rest[index] ?? '', msg)
      const left = rest.filter((name) => !refused.has(name))
      if (faults.length > 0 && left.length === 0) throw new Error(faults[0]?.msg, { cause: error })
      if (faults.length === 0 || left.length === rest.length || attempt === MAX_ATTEMPTS) throw error
      rest = left
    }
  }
}

async function send(key: string | undefined, names: readonly string[], facts: Facts): Promise<void> {
  const { status, reserve, date, agent } = facts
  const data = names.map((domain) => ({
    domain,
    length: domain.length,
    reserve,
    status,
    date_reg: date,
    ...(agent === '' ? {} : { agent }),
  }))
  const withKey = key === undefined ? {} : { key }
  try {
    await ask('POST /api/v1/domainwatch/add', { body: { data }, ...withKey })
  } catch (error) {
    // The response was lost. A batch is atomic, so one of its names shows whether it was stored.
    const [first] = names
    if (!(error instanceof ConnectionLost) || first === undefined) throw error
    const now = await readRecord(first, undefined, key).catch(() => null)
    if (now === null || now.date_reg !== date) throw error
  }
}
