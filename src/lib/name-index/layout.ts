import { NAME_PLANES, type NumberPlanes } from './name-planes.ts'

/** A small whole number that every record has, from 0 to `max`. The index holds each of its bits in a plane. */
export interface Trait {
  readonly max: number
}

/** Which planes the traits of records have, after those of their names. The same in all threads. */
export class Layout<T extends Trait = Trait> {
  readonly traits: readonly T[]
  /** The number of planes of traits. */
  readonly planes: number
  readonly #planes = new Map<Trait, NumberPlanes>()

  constructor(traits: Iterable<T>) {
    this.traits = [...new Set(traits)]
    let planes = 0
    for (const trait of this.traits) {
      const first = NAME_PLANES + planes
      const bits = bitsFor(trait.max)
      const ofTrait = Array.from({ length: bits }, (_, bit) => first + bit)
      this.#planes.set(trait, ofTrait)
      planes += bits
    }
    this.planes = planes
  }

  /** @throws if the trait is not one of the layout */
  planesOf(trait: Trait): NumberPlanes {
    const planes = this.#planes.get(trait)
    if (planes === undefined) throw new Error('a trait that the index does not have')
    return planes
  }
}

/** The number of bits that a number up to `max` takes. */
const bitsFor = (max: number): number => 32 - Math.clz32(max)
