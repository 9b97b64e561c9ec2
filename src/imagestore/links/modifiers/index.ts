export { canonical, isIdentity } from './canonical.ts'
export { usualGrammar, type Grammar } from './grammar.ts'
export {
  formatOfExtension,
  parseModifiers,
  unknownModifier,
  type ModifierFault,
  type ParsedModifier,
} from './parse.ts'
export { findMisplaced, type Parameter } from './misplaced.ts'
export { emptyPlan, type Plan, type SettledPlan } from './plan.ts'
