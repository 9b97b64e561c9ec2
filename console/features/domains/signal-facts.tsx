import { Fragment } from 'react'
import { Time } from '../../design/time.tsx'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'
import { COLUMNS } from './columns.ts'
import { objectionDays } from './time-left.ts'
import type { DomainRecord } from './records.ts'
import { SIGNAL_IDS, SIGNALS } from './signals.ts'

/** The signals that a record has, for a list of facts. The tag says the days, so the end of the time for objections is a date. */
export function SignalFacts({ record }: { record: DomainRecord }) {
  const known = SIGNAL_IDS.filter((id) => id !== 'objection' && SIGNALS[id](record) !== '')
  return (
    <>
      {known.map((id) => {
        const { label, help } = COLUMNS[id]
        return (
          <Fragment key={id}>
            <dt title={help && t(help)}>{t(label)}</dt>
            <dd className={id === 'shape' || id === 'twins' ? 'mono' : 'figures'}>{SIGNALS[id](record)}</dd>
          </Fragment>
        )
      })}
      {objectionDays(record) !== undefined && (
        <>
          <dt title={t('help.objection')}>{t('sheet.objectUntil')}</dt>
          <dd>
            <Time at={record.object_until} />
          </dd>
        </>
      )}
    </>
  )
}
