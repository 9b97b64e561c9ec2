export interface Sized {
  readonly width: number
  readonly height: number
}

export interface PlacedItem<T> {
  readonly item: T
  readonly left: number
  readonly width: number
}

export interface JustifiedRow<T> {
  readonly height: number
  readonly items: readonly PlacedItem<T>[]
}

/** Limits on the aspect ratio: beyond them an image would be a line. */
const NARROWEST = 0.5
const WIDEST = 2.4

/**
 * Lays out images in justified rows, each with nearly the wanted height, in order. The last row is not stretched.
 * Lengths in CSS pixels.
 */
export function justifiedRows<T extends Sized>(
  items: readonly T[],
  width: number,
  wanted: number,
  gap: number,
): JustifiedRow<T>[] {
  const rows: JustifiedRow<T>[] = []
  let row: { item: T; ratio: number }[] = []
  let ratios = 0
  const finish = (isLast: boolean) => {
    const room = width - gap * (row.length - 1)
    const height = isLast ? Math.min(wanted, room / ratios) : room / ratios
    let left = 0
    const laid = row.map(({ item, ratio }) => {
      const one = { item, left, width: ratio * height }
      left += one.width + gap
      return one
    })
    rows.push({ height, items: laid })
    row = []
    ratios = 0
  }
  for (const item of items) {
    const ratio = Math.min(WIDEST, Math.max(NARROWEST, item.width / item.height))
    row.push({ item, ratio })
    ratios += ratio
    if ((width - gap * (row.length - 1)) / ratios <= wanted) finish(false)
  }
  if (row.length > 0) finish(true)
  return rows
}
