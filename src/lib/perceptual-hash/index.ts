/** Difference hashes of images and search among them by Hamming distance. See README.md. */
export * from './dhash.ts'
export * from './scan.ts'
