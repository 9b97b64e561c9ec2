import { recordErrorMessage } from '../../api/error-message.ts'
import { count as formatted, t } from '../../i18n/index.ts'
import type { BadLine } from './read-list.ts'

const SHOWN = 100

/** Lines that are not stored, each with its number in the file and the reason. */
export function BadLines({ lines, count }: { lines: readonly BadLine[]; count: number }) {
  const shown = lines.slice(0, SHOWN)
  return (
    <section className="stack" aria-label={t('import.refused')}>
      <h2>{t('import.refused')}</h2>
      <ul className="bad-lines">
        {shown.map(({ line, text, reason }) => (
          <li key={line}>
            <span className="muted figures">{t('import.line', { n: line })}</span>{' '}
            <code>{text.slice(0, 120)}</code>{' '}
            <span className="fault-text">
              {typeof reason === 'string'
                ? t(reason)
                : recordErrorMessage({ field: reason.field ?? '', msg: reason.said })}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < count && (
        <p className="muted figures">{t('import.badMore', { n: formatted(count - shown.length) })}</p>
      )}
    </section>
  )
}
