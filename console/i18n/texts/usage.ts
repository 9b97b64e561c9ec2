import { addTexts, inBoth } from '../dictionary.ts'

/** Storage used by images. */
export const usage = inBoth(
  {
    'usage.perDay': 'Subidas por día (UTC)',
    'usage.images': 'imágenes',
    'usage.kinds': 'Tipos',
    'usage.average': 'Tamaño medio',
    'usage.share': 'Proporción del espacio',
    'usage.percent': '{n} %',
    'usage.of': 'de {max}',
    'usage.noBound': 'Sin límite',
  },
  {
    'usage.perDay': 'Uploads per day (UTC)',
    'usage.images': 'images',
    'usage.kinds': 'Types',
    'usage.average': 'Average size',
    'usage.share': 'Share of storage',
    'usage.percent': '{n}%',
    'usage.of': 'of {max}',
    'usage.noBound': 'No limit',
  },
)

addTexts(usage)
