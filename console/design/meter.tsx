import './meter.css'

/**
 * A bar that shows a share of a total, next to its figures.
 * @param isGood whether a high value is good; otherwise it warns from 90 % on
 */
export function Meter({ part, isGood = false }: { part: number; isGood?: boolean }) {
  const width = `${Math.min(1, Math.max(0, part)) * 100}%`
  return (
    <span className="bar-of" aria-hidden="true">
      <span className={part >= 0.9 && !isGood ? 'part full' : 'part'} style={{ width }} />
    </span>
  )
}
