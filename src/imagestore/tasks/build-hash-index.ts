/** Task for another thread: builds the index of an application's image hashes. Ten million take some seconds. */
export { buildMultiIndex as default } from '../../lib/perceptual-hash/index.ts'
