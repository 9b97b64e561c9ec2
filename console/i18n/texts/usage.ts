import { inBoth } from '../in-both.ts'

/** What the images take up. */
export const usage = inBoth(
  {
    'usage.perDay': 'Subidas por día, en UTC',
    'usage.images': 'imágenes',
    'usage.kinds': 'Tipos',
    'usage.average': 'Tamaño medio',
    'usage.share': 'Parte del espacio',
    'usage.percent': '{n} %',
    'usage.of': 'de {max}',
    'usage.noBound': 'Sin límite',
  },
  {
    'usage.perDay': 'Uploads a day, in UTC',
    'usage.images': 'images',
    'usage.kinds': 'Kinds',
    'usage.average': 'Average size',
    'usage.share': 'Share of the storage',
    'usage.percent': '{n} %',
    'usage.of': 'of {max}',
    'usage.noBound': 'No bound',
  },
)
