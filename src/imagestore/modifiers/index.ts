export { canonical, copiesOutput, findEffects, isIdentity, needsStill } from './transformation.ts'
export type { Step } from './modifier.ts'
export {
  defaultGrammar,
  defaultPresets,
  findMisplaced,
  formatOfExtension,
  isKey,
  linkTokens,
  parseModifiers,
  unknownModifier,
  type Grammar,
  type ModifierFault,
  type Parameter,
  type ParsedModifiers,
  type ParsedText,
} from './parse.ts'
export {
  COMPASS_POINTS,
  FIELDS,
  FITS,
  UNCHANGED,
  isName,
  MAX_SIDE_PIXELS,
  modifiers,
  NAME_TAKES,
  type AcceptedFormat,
  type Changes,
  type CompassPoint,
  type Gravity,
  type OutputFormat,
  type ResolvedTransformation,
  type Transformation,
} from './table.ts'
