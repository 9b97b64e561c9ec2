import { callApi } from '../../api/client.ts'
import type { OperationSpec } from '../work/operations.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { queryClient } from '../../api/query-client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { storeWithRetries, type Change } from '../domains/changes.ts'
import { subjectOf } from '../domains/marks.ts'
import { readRecords } from '../domains/read-records.ts'
import type { DomainRecord } from '../domains/records.ts'
import { t, tn } from '../../i18n/index.ts'

/** A browser opens six connections to a host: some stay free for the rest of the page. */
const MAX_RUNNING = 4
const BATCH = 250

/** The records that a gesture added, as far as they are known. */
export interface Added {
  readonly records: readonly Pick<DomainRecord, 'name' | 'length' | 'date_reg'>[]
  readonly account: string | undefined
  /** Names that attempts have taken back. */
  readonly takenBack: Set<string>
}

/**
 * Takes added names back: the service keeps records, so they are discarded, and delete themselves a week later. Only those
 * whose whole history is that this account added them; what was recorded before or touched since stays as it is.
 */
export function undoAdd(key: string | undefined, added: () => Added): OperationSpec {
  const { records, account, takenBack } = added()
  const names = records.map(({ name }) => name)
  const what = names.length === 1 ? `${names[0]}.cl` : tn('domains.rows', names.length)
  const doing = t('domains.undoing', { what })
  return {
    service: 'domainwatch',
    subjects: names.map(subjectOf),
    pending: doing,
    failed: (reason) => t('domains.undoFailed', { what, reason }),
    async run(tell) {
      const slots = createLimiter(MAX_RUNNING)
      const surely = <T>(work: () => Promise<T>) =>
        untilAnswered(work, () => tell(t('operation.held', { text: doing })))
      // Those that the service refused are known by now.
      const { records: recorded } = added()
      const own = await Promise.all(
        recorded
          .filter(({ name }) => !takenBack.has(name))
          .map(async (record) =>
            (await slots.run(() => surely(() => isOwn(record.name, account, key)))) ? [record] : [],
          ),
      )
      const present = await surely(() => readRecords(own.flat(), key))
      const changes = [...present.values()].map(({ name, date_mod }): Change => {
        return {
          domain: name,
          set: { discarded: 1 },
          expect: { discarded: 0, seen: 0, revision: 0, date_mod },
        }
      })
      for (let i = 0; i < changes.length; i += BATCH) {
        const batch = changes.slice(i, i + BATCH)
        const refused = await storeWithRetries(batch, key, surely)
        for (const { domain } of batch) if (!refused.has(domain)) takenBack.add(domain)
      }
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      const left = recorded.length - takenBack.size
      const text = tn('add.takenBack', takenBack.size)
      return left === 0 ? { text } : { text: `${text} ${tn('add.notTakenBack', left)}`, isError: true }
    },
  }
}

/** Whether all that ever happened to a name is that this account added it. */
async function isOwn(domain: string, account: string | undefined, key: string | undefined): Promise<boolean> {
  const { data } = await callApi('GET /api/v1/domainwatch/history', {
    query: { domain, limit: 2 },
    ...(key === undefined ? {} : { key }),
  })
  const [only, ...others] = data.data
  return only?.from === null && only.to !== null && only.account === account && others.length === 0
}
