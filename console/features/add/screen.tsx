import { useDeferredValue, useEffect, useMemo, type FormEvent } from 'react'
import { MAX_AGENT_CHARACTERS } from '../../base/constants.ts'
import { usePendingSubjects } from '../work/operations.ts'
import { useStore, createStore } from '../../base/store.ts'
import { Button, Link } from '../../design/elements.tsx'
import { toSubject } from '../domains/marks.ts'
import { t, tn } from '../../i18n/index.ts'
import { addNames, type CommonValues } from './add-names.ts'
import { isNew, useLookup, LookupResults } from './lookup-results.tsx'
import { MAX_NAMES, parsePasted } from './pasted-names.ts'
import { SelectField, TextArea, TextField, Check } from '../../design/field.tsx'
import { localNow } from '../../base/server.ts'
import { onNextUser } from '../../api/scope.ts'
import { guardWork } from '../../base/unsaved-work.ts'
import '../../i18n/texts/adding.ts'
import './add.css'

/** Adds typed or pasted names, and shows which are recorded already or not valid. */
export default function AddScreen() {
  const { text, facts } = useStore(draft)
  const setText = (next: string) => draft.set({ ...draft.get(), text: next })
  useEffect(renewDraft, [])
  const late = useDeferredValue(text)
  const pasted = useMemo(() => parsePasted(late), [late])
  const { names } = pasted
  const { found, retry, forget, askedAt } = useLookup(names)
  const fresh = names.filter((name) => isNew(found.get(name)))
  const isLooking = late !== text || names.some((name) => !found.has(name))
  const pending = usePendingSubjects()
  const isPending = fresh.some((name) => pending.has(toSubject(name)))
  const isReady = fresh.length > 0 && !isLooking && !isPending && !pasted.isTooLong
  const hasNew = fresh.length > 0 && !isPending
  useEffect(() => noteNewNames(hasNew), [hasNew])

  function add(event: FormEvent) {
    event.preventDefault()
    if (!isReady) return
    const handle = addNames(fresh, facts, askedAt(fresh))
    // Show added names as recorded, and rejected ones as new.
    void handle?.settled.then(() => forget(fresh))
  }

  return (
    <div className="page wide">
      <header>
        <h1>{t('nav.add')}</h1>
      </header>
      <form className="add" onSubmit={add}>
        <div className="stack">
          <TextArea
            label={t('add.names')}
            hint={t('add.hint', { n: MAX_NAMES })}
            look="mono"
            rows={12}
            spellCheck={false}
            autoCapitalize="none"
            placeholder={t('add.placeholder')}
            value={text}
            onChange={setText}
          />
          <FactFields facts={facts} onChange={(next) => draft.set({ ...draft.get(), facts: next })} />
          <div className="row">
            <Button
              look="primary"
              icon="plus"
              label={fresh.length === 0 ? t('add.addNone') : tn('add.add', fresh.length)}
              type="submit"
              disabled={!isReady}
            />
            {text !== '' && <Button look="quiet" label={t('add.clear')} onClick={() => setText('')} />}
          </div>
          {pasted.isTooLong && (
            <p className="callout danger" role="alert">
              {t('add.tooMany', { n: MAX_NAMES })} <Link to="importar">{t('nav.import')}</Link>
            </p>
          )}
        </div>
        <LookupResults pasted={pasted} found={found} isLooking={isLooking} onRetry={retry} />
      </form>
    </div>
  )
}

function FactFields({ facts, onChange }: { facts: CommonValues; onChange: (facts: CommonValues) => void }) {
  return (
    <fieldset className="add-facts">
      <legend className="visually-hidden">{t('add.facts')}</legend>
      <SelectField
        label={t('domains.state')}
        value={facts.status === 1 ? '1' : '0'}
        options={['0', '1']}
        textOf={(one) => t(one === '1' ? 'domains.bought' : 'domains.free')}
        onChange={(one) => onChange({ ...facts, status: one === '1' ? 1 : 0 })}
      />
      <TextField
        label={t('add.date')}
        type="datetime-local"
        step={1}
        required
        value={facts.date.replace(' ', 'T')}
        onChange={(date) => onChange({ ...facts, date: getDate(date) })}
      />
      <TextField
        label={t('domains.agent')}
        maxLength={MAX_AGENT_CHARACTERS}
        placeholder={t('add.agentSelf')}
        value={facts.agent}
        onChange={(agent) => onChange({ ...facts, agent: agent.trimStart() })}
      />
      <Check
        label={t('domains.reserved')}
        value={facts.reserve === 1}
        onChange={(isReserved) => onChange({ ...facts, reserve: isReserved ? 1 : 0 })}
      />
    </fieldset>
  )
}

/** Returns `2026-01-12 15:00:00` from the value of the control, which omits zero seconds. */
function getDate(value: string): string {
  const [day = '', time = ''] = value.split('T')
  return value === '' ? '' : `${day} ${time.length === 5 ? `${time}:00` : time.slice(0, 8)}`
}

/** What the user has entered and not added yet: it survives a visit of another screen. */
interface Draft {
  readonly text: string
  readonly facts: CommonValues
}

const emptyDraft = (): Draft => ({ text: '', facts: { status: 0, reserve: 0, date: localNow(), agent: '' } })

export const draft = createStore<Draft>(emptyDraft())

let hasNewNames = false

guardWork(() => hasNewNames)

/** Notes whether it has names that are still to be added, also for the time after the screen was left. */
export function noteNewNames(has: boolean): void {
  hasNewNames = has
}

onNextUser('domainwatch', () => {
  hasNewNames = false
  draft.set(emptyDraft())
})

/** Called when the screen opens: a draft without names has the time and the choices of an earlier visit. */
export function renewDraft(): void {
  if (draft.get().text === '') draft.set(emptyDraft())
}
