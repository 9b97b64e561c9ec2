import { integer } from '../../http/parameters.ts'
import { MAX_DISTANCE } from '../../lib/lookalikes/index.ts'

export const maxDistance = integer(
  'The highest cost of the changes from one name to the other; above 20, errors in names of up to 3 letters too',
  1,
  MAX_DISTANCE,
)
