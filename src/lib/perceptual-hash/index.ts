/** Difference hashes of images and search among them by Hamming distance. See README.md. */
export { dhash } from './dhash.ts'
export { isHash64, parseHash64, popcount, unpackHashes, type Hash64 } from './hash64.ts'
export { estimateBytes, HashIndex, type BuildMultiIndex } from './hash-index.ts'
export { buildMultiIndex, type MultiIndexArrays } from './multi-index.ts'
export { asPixels, clipGray, cmykToRgb, highBytes, lumaOf, type Pixels } from './dhash.ts'
export { Matches, scan } from './scan.ts'
