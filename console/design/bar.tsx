import './bar.css'

/**
 * How much of a whole; the figures stand beside it.
 * @param isGood whether much is well; else it asks for a look from nine tenths on
 */
export function Bar({ part, isGood = false }: { part: number; isGood?: boolean }) {
  const width = `${Math.min(1, Math.max(0, part)) * 100}%`
  return (
    <span className="bar-of" aria-hidden="true">
      <span className={part >= 0.9 && !isGood ? 'part full' : 'part'} style={{ width }} />
    </span>
  )
}
