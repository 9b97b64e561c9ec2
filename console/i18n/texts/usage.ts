import { addTexts, type Texts } from '../dictionary.ts'

/** Storage used by images. */
export const usage = {
  'usage.perDay': ['Subidas por día (UTC)', 'Uploads per day (UTC)'],
  'usage.images': ['imágenes', 'images'],
  'usage.kinds': ['Tipos', 'Types'],
  'usage.average': ['Tamaño medio', 'Average size'],
  'usage.share': ['Proporción del espacio', 'Share of storage'],
  'usage.percent': ['{n} %', '{n}%'],
  'usage.of': ['de {max}', 'of {max}'],
  'usage.noBound': ['Sin límite', 'No limit'],
} as const satisfies Texts

addTexts(usage)
