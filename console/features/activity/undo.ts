import { untilAnswered } from '../../api/retry.ts'
import type { Operations } from '../../api/schema.ts'
import { keyFor } from '../../api/session.ts'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'
import { stateText, storeChanges, type Values } from '../domains/changes.ts'
import { showCurrent, toSubject } from '../domains/marks.ts'
import { readRecord, type DomainRecord } from '../domains/records.ts'
import type { OperationSpec } from '../work/operations.ts'

/** A change of a record by the account. */
export type Change = Operations['GET /api/v1/domainwatch/activity']['answer']['data'][number]

/** Attempts while others change the record in other ways. */
const MAX_ATTEMPTS = 5

/** Fields that `update` sets, by their names in records. */
const SETTABLE = {
  status: 'status',
  reserved: 'reserve',
  revision: 'revision',
  discarded: 'discarded',
  seen: 'seen',
  note: 'note',
  tags: 'tags',
} as const satisfies Readonly<Record<string, keyof Values>>

/** Fields that follow from others. */
const DERIVED = ['date_mod', 'deleted_at', 'discarded_at', 'deleted_after']

type Field = keyof typeof SETTABLE
const isField = (name: string): name is Field => name in SETTABLE

/** Returns the fields that a change set; undefined if `update` cannot give all of them back. */
export function undoableFields({ from, to }: Change): readonly Field[] | undefined {
  if (from === null || to === null) return undefined
  const names = Object.keys(to).filter((name) => !DERIVED.includes(name))
  const fields = names.filter(isField)
  return fields.length === names.length && fields.length > 0 ? fields : undefined
}

/** The operation that gives a record back what it had before a change, unless someone has changed that since. */
export function undoingChange(change: Change, fields: readonly Field[]): OperationSpec {
  const key = keyFor('domainwatch')
  const { name } = change
  const what = `${name}.cl`
  const doing = t('domains.undoing', { what })
  return {
    service: 'domainwatch',
    subjects: [toSubject(name)],
    pending: doing,
    failed: (reason) => t('domains.undoFailed', { what, reason }),
    async run(tell) {
      await untilAnswered(
        () => restore(change, fields, key),
        () => tell(t('operation.held', { text: doing })),
      )
      return { text: t('domains.undoneOf', { what }) }
    },
  }
}

/** Safe to repeat: what an earlier attempt stored is left as it is. */
async function restore(
  { name, from, to }: Change,
  fields: readonly Field[],
  key: string | undefined,
): Promise<void> {
  const set: Values = Object.fromEntries(fields.map((field) => [SETTABLE[field], from?.[field]]))
  let now = await readRecord(name, undefined, key)
  for (let attempt = 1; ; attempt++) {
    if (now === null) throw new Error(t('domains.gone'))
    if (has(now, fields, from)) return
    if (!has(now, fields, to)) {
      showCurrent(now)
      throw new Error(conflictText(now, fields, to))
    }
    // It must not change between reading and storing, either.
    const refused = await storeChanges([{ domain: name, set, expect: getExpected(now) }], key)
    const [refusal] = refused.values()
    if (refusal === undefined) return
    showCurrent(refusal.record)
    if (refusal.record === undefined || attempt === MAX_ATTEMPTS) throw new Error(refusal.reason)
    // Perhaps only something else of it has changed.
    now = await readRecord(name, undefined, key)
  }
}

/** Within a second, `date_mod` does not show that a mark has changed. */
const getExpected = ({ status, revision, discarded, seen, date_mod }: DomainRecord) => ({
  status,
  revision,
  discarded,
  ...(seen !== undefined && { seen }),
  date_mod,
})

const has = (record: DomainRecord, fields: readonly Field[], values: Change['from']): boolean =>
  fields.every((field) => JSON.stringify(record[field]) === JSON.stringify(values?.[field]))

/** What someone has made of it: the note or tags, if these differ, otherwise its state. */
function conflictText(now: DomainRecord, fields: readonly Field[], to: Change['to']): string {
  const text = (['note', 'tags'] as const).find((field) => fields.includes(field) && !has(now, [field], to))
  if (text === undefined) return t('domains.isNow', { state: stateText(now) })
  const value = text === 'note' ? (now.note ?? '') : (now.tags ?? []).join(', ')
  return t('note.changed', { text: value === '' ? '–' : `«${value}»` })
}
