import { addTexts } from '../dictionary.ts'

/** Storage used by images. */
export const usage = addTexts({
  'usage.perDay': ['Subidas por día (UTC)', 'Uploads per day (UTC)'],
  'usage.images': ['imágenes', 'images'],
  'usage.kinds': ['Tipos', 'Types'],
  'usage.average': ['Tamaño medio', 'Average size'],
  'usage.share': ['Proporción del espacio', 'Share of storage'],
  'usage.of': ['de {max}', 'of {max}'],
})
