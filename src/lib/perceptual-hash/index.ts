/** Difference hashes of images and search among them by Hamming distance. See README.md. */
export { asPixels, clipGray, cmykToRgb, dhash, highBytes, lumaOf, type Pixels } from './dhash.ts'
export {
  distanceBetween,
  estimateBytes,
  HashList,
  isFlatHash,
  isHash64,
  Matches,
  mirrorHash,
  parseHash64,
  popcount,
  scan,
  unpackHashes,
  type Hash64,
} from './scan.ts'
