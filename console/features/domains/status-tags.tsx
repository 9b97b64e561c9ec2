import { Icon } from '../../design/icon.tsx'
import { t } from '../../i18n/index.ts'
import type { DomainRecord } from './records.ts'
import { timeLeftText, type TimeLeft } from './time-left.ts'

export function StatusTag({ status }: { status: number }) {
  return status === 1 ? (
    <span className="tag">
      <Icon name="lock" />
      {t('domains.bought')}
    </span>
  ) : (
    <span className="tag free">
      <Icon name="check" />
      {t('domains.free')}
    </span>
  )
}

export function MarkTags({ record, left }: { record: DomainRecord; left: TimeLeft | undefined }) {
  return (
    <>
      {record.revision === 1 && (
        <span className="tag review">
          <Icon name="flag" />
          {t('domains.review')}
        </span>
      )}
      {record.reserved === 1 && <span className="tag">{t('domains.reserved')}</span>}
      {record.discarded === 1 && (
        <span className="tag">
          <Icon name={left === undefined ? 'trash' : 'clock'} />
          {left === undefined ? (
            t('domains.discarded')
          ) : (
            <>
              <span className="visually-hidden">
                {t('domains.discardedLeft', { left: timeLeftText(left) })}
              </span>
              <span aria-hidden="true" className="figures">
                {timeLeftText(left)}
              </span>
            </>
          )}
        </span>
      )}
    </>
  )
}
