import { callApi } from '../../api/client.ts'
import type { Rule } from '../../api/schema.ts'
import { t } from '../../i18n/index.ts'
import { runOperation, toOperation, type OperationSpec } from '../work/operations.ts'

export type { Rule }
export type Action = Rule['action']

export const RULES_KEY = ['rules']

/** The parameters that make the rule again. */
const toParameters = ({ name, action, tag, filters }: Rule) => ({
  ...filters,
  name,
  action,
  ...(tag === null ? {} : { tag }),
})

type Change = Pick<Parameters<typeof toOperation>[0], 'subject' | 'pending' | 'done' | 'send' | 'undo'>

const change = (asked: Change): OperationSpec =>
  toOperation({
    ...asked,
    service: 'domainwatch',
    failed: (reason) => t('rule.failed', { reason }),
    shownBy: ['rules', 'domains'],
  })

function pausing({ id, name }: Rule, isPaused: boolean): Change {
  return {
    subject: `rule:${id}`,
    pending: t('rule.saving', { name }),
    done: t(isPaused ? 'rule.pausedNow' : 'rule.resumed', { name }),
    send: (key) =>
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
  const subject = `rule:${id}`
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
      send: (key) => callApi('DELETE /api/v1/domainwatch/rules', { query: { id }, key }),
      undo: () => change({ subject, pending, done: t('rule.restored', { name }), send: restore }),
    }),
  )
}
