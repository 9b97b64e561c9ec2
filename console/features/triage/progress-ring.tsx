import { tn } from '../../i18n/index.ts'
import '../../i18n/texts/triage.ts'

const CIRCLE = 2 * Math.PI * 20

/** The progress, and the number of names left once counted. */
export function ProgressRing({ done, left }: { done: number; left: number | undefined }) {
  const part = left === undefined || done + left === 0 ? 0 : done / (done + left)
  return (
    <div className="triage-arc">
      <svg viewBox="0 0 48 48" aria-hidden="true">
        <circle cx="24" cy="24" r="20" />
        <circle cx="24" cy="24" r="20" className="done" strokeDasharray={`${CIRCLE * part} ${CIRCLE}`} />
      </svg>
      <span className="figures muted">{left === undefined ? '…' : tn('triage.left', left)}</span>
    </div>
  )
}
