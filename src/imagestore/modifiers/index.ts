export { canonical, copiesOutput, findEffects, isIdentity, needsStill } from './transformation.ts'
export { COMPASS_POINTS, type CompassPoint, type Gravity } from './gravity.ts'
export { isName, NAME_TAKES, type Step } from './modifier.ts'
export {
  defaultGrammar,
  defaultPresets,
  findMisplaced,
  formatOfExtension,
  isKey,
  linkTokens,
  MAX_MODIFIER_CHARACTERS,
  parseModifiers,
  unknownModifier,
  type Grammar,
  type ModifierFault,
  type Parameter,
  type ParsedModifiers,
  type ParsedText,
} from './parse.ts'
export {
  FIELDS,
  FITS,
  UNCHANGED,
  MAX_SIDE_PIXELS,
  modifiers,
  type AcceptedFormat,
  type Changes,
  type OutputFormat,
  type ResolvedTransformation,
  type Transformation,
} from './table.ts'
