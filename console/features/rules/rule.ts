import { callApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { Operations } from '../../api/schema.ts'
import { keyFor } from '../../api/session.ts'
import { t } from '../../i18n/index.ts'
import { runOperation, type OperationSpec } from '../work/operations.ts'

export type Rule = Operations['GET /api/v1/domainwatch/rules']['answer']['data'][number]
export type Action = Rule['action']

export const RULES_KEY = ['rules']

/** What the rules show, and what they hide. */
async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: RULES_KEY })
  await queryClient.invalidateQueries({ queryKey: ['domains'] })
}

/** The parameters that make the rule again. */
const toParameters = ({ name, action, tag, filters }: Rule) => ({
  ...filters,
  name,
  action,
  ...(tag === null ? {} : { tag }),
})

interface Change {
  readonly subject: string
  readonly pending: string
  readonly done: string
  readonly run: (key: string | undefined) => Promise<unknown>
  readonly undo?: () => OperationSpec
}

function change({ subject, pending, done, run, ...rest }: Change): OperationSpec {
  const key = keyFor('domainwatch')
  return {
    service: 'domainwatch',
    subjects: [`rule:${subject}`],
    pending,
    failed: (reason) => t('rule.failed', { reason }),
    onFailed: () => void refresh(),
    async run() {
      await run(key)
      await refresh()
      return { text: done }
    },
    ...rest,
  }
}

function pausing({ id, name }: Rule, isPaused: boolean): Omit<Change, 'undo'> {
  return {
    subject: id,
    pending: t('rule.saving', { name }),
    done: t(isPaused ? 'rule.pausedNow' : 'rule.resumed', { name }),
    run: (key) =>
      callApi('POST /api/v1/domainwatch/rules/update', { query: { id, paused: isPaused ? 1 : 0 }, key }),
  }
}

/** Pauses or resumes a rule. */
export function pauseRule(rule: Rule): void {
  const wasPaused = rule.paused === 1
  runOperation(change({ ...pausing(rule, !wasPaused), undo: () => change(pausing(rule, wasPaused)) }))
}

/** Deletes a rule. Undone, it is created again. */
export function removeRule(rule: Rule): void {
  const { id, name, paused } = rule
  const subject = id
  const pending = t('rule.saving', { name })
  const restore = async (key: string | undefined) => {
    const { data } = await callApi('POST /api/v1/domainwatch/rules', { query: toParameters(rule), key })
    if (paused === 1)
      await callApi('POST /api/v1/domainwatch/rules/update', { query: { id: data.id, paused: 1 }, key })
  }
  runOperation(
    change({
      subject,
      pending,
      done: t('rule.removed', { name }),
      run: (key) => callApi('DELETE /api/v1/domainwatch/rules', { query: { id }, key }),
      undo: () => change({ subject, pending, done: t('rule.restored', { name }), run: restore }),
    }),
  )
}
