import { useStore } from '../../base/store.ts'
import { language, t } from '../../i18n/index.ts'
import type { DomainRecord } from './records.ts'
import { Time, Fact } from '../../design/elements.tsx'
import { COLUMNS } from './columns.ts'
import { objectionDays } from './tags.tsx'
import { SIGNAL_IDS, SIGNALS } from './signals.ts'
import '../../i18n/texts/sheet.ts'

type Reason = NonNullable<DomainRecord['because']>[number]

/** Says how interesting the group would find a name, and why. Nothing before there are enough decisions. */
export function Because({ record: { interest, because } }: { record: DomainRecord }) {
  const spoken = useStore(language)
  if (typeof interest !== 'number' || because === undefined) return null
  return (
    <section className="stack">
      <h3>{t('interest.why')}</h3>
      <p className="figures">{t('interest.score', { n: interest })}</p>
      <ul className="muted">
        {because.map((reason) => (
          <li key={`${reason.kind} ${reason.value}`}>{spoken === 'es' ? reason.text : inEnglish(reason)}</li>
        ))}
      </ul>
    </section>
  )
}

/** The service gives reasons in Spanish. */
const inEnglish = ({ kind, value, accepted, of }: Reason): string =>
  t('interest.reason', { what: t(`interest.${kind}`, { value }), accepted, of })

/** The signals that a record has, for a list of facts. The tag says the days, so the end of the time for objections is a date. */
export function SignalFacts({ record }: { record: DomainRecord }) {
  const known = SIGNAL_IDS.filter((id) => id !== 'objection' && SIGNALS[id](record) !== '')
  return (
    <>
      {known.map((id) => {
        const { label, help } = COLUMNS[id]
        return (
          <Fact
            key={id}
            label={t(label)}
            title={help && t(help)}
            className={id === 'shape' || id === 'twins' ? 'mono' : 'figures'}
          >
            {SIGNALS[id](record)}
          </Fact>
        )
      })}
      {objectionDays(record) !== undefined && (
        <Fact label={t('sheet.objectUntil')} title={t('help.objection')}>
          <Time at={record.object_until} />
        </Fact>
      )}
    </>
  )
}
