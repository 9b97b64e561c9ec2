import { randomFrom } from './random.ts'

const PLACES =
  'temuco osorno arica iquique chillan castro pucon ovalle quillota talca valdivia linares calama curico lota'
const BRANDS =
  'nike adidas samsung toyota falabella ripley sodimac lider jumbo sony puma nestle entel copec shell'
const THINGS =
  'ala ojo pie mano boca pelo lana seda oro plata cobre barro arena roca cima lago selva prado trigo maiz uva pera mora limon menta miel ' +
  'queso leche carne pollo vaca toro burro zorro lobo oso pez rana nido rama hoja raiz tallo fruta verde rojo negro blanco gris nuevo viejo ' +
  'alto bajo largo corto dulce frio calor lluvia nieve casa sol mar luz auto rio pan vino flor agua norte sur azul gato mesa venta campo'

const [places, brands, things] = [PLACES, BRANDS, THINGS].map((words) => words.split(' '))

/** The words of the names that a dictionary may lack. */
export const TASTE_WORDS = `${PLACES} ${BRANDS}`.replaceAll(' ', ',')

export interface TastedName {
  readonly name: string
  /** One or two words, no digits, at most 10 letters, and a brand only after a place. */
  readonly isWanted: boolean
}

/** Returns different names, of which a fifth is wanted. */
export function tastedNames(seed: number, count: number): readonly TastedName[] {
  const random = randomFrom(seed)
  const pick = <T>(all: readonly T[] = []): T | undefined => all[Math.floor(random() * all.length)]
  const names = new Map<string, boolean>()
  while (names.size < count) {
    const kinds = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      pick([things, things, things, places, brands]),
    )
    const words = kinds.map((kind) => pick(kind) ?? '')
    const number = random() < 0.2 ? String(Math.floor(random() * 1_000)) : ''
    const name = words.join(random() < 0.1 ? '-' : '') + number
    const brand = kinds.indexOf(brands)
    const isFree = brand < 0 || kinds.slice(0, brand).includes(places)
    names.set(name, words.length <= 2 && number === '' && name.length <= 10 && isFree)
  }
  return Array.from(names, ([name, isWanted]) => ({ name, isWanted }))
}

/** Returns what members decided on names: one of twenty decisions is wrong. */
export function noisyDecisions(names: readonly TastedName[], seed: number) {
  const random = randomFrom(seed)
  return names.map(({ name, isWanted }) => {
    const isAccepted = random() < 0.05 ? !isWanted : isWanted
    return { domain: name, ...(isAccepted ? { revision: 1 } : { seen: 1 }) }
  })
}
