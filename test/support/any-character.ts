import fc from 'fast-check'

/** Any character of Unicode, as a unit of strings. The unit `binary` of fast-check means the same and takes a second to build. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
