import { integer, type Parameter } from '../../http/parameters.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { MAX_DISTANCE } from '../../lib/lookalikes/index.ts'

const MAX_BRANDS = 50
/** Length of a name in its longest form, `xn--` and `.cl`, and a comma. */
const MAX_BRAND_CHARACTERS = 70

/** Names separated by commas, in their normal form. */
export const brands: Parameter<string> = {
  required: false,
  description: `Only names that resemble one of these, which themselves do not: up to ${MAX_BRANDS}, separated by commas`,
  schema: { type: 'string', maxLength: MAX_BRANDS * MAX_BRAND_CHARACTERS },
  parse: (given) => {
    const labels = given
      .split(',', MAX_BRANDS + 1)
      .map((name) => parseLabel(name.trim().replace(/\.cl\.?$/i, '')))
    const names = new Set(labels.flatMap((label) => (label.ok ? label.name : [])))
    if (labels.length <= MAX_BRANDS && labels.every(({ ok }) => ok)) return { value: [...names].join(',') }
    return {
      takes:
        labels.length === 1
          ? 'debe ser un nombre de dominio .cl'
          : `debe ser una lista de 1 a ${MAX_BRANDS} nombres de dominio .cl, separados por comas`,
    }
  },
}

export const maxDistance = integer(
  'The highest cost of the changes from one name to the other; above 20, errors in names of up to 3 letters too',
  1,
  MAX_DISTANCE,
)
