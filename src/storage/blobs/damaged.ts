/** The store holds a blob in another size or with another content than it was stored. */
export class BlobDamaged extends Error {}
