export { canonical, isIdentity } from './canonical.ts'
export { usualGrammar, type Grammar } from './grammar.ts'
export { formatOfExtension, parseModifiers, type ModifierFault, type ParsedModifier } from './parse.ts'
export { emptyPlan, type Plan, type SettledPlan } from './plan.ts'
