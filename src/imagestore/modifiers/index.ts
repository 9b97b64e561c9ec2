export { canonical, isIdentity } from './canonical.ts'
export { formatOfExtension, parseModifiers, type ModifierFault, type ParsedModifier } from './parse.ts'
export { emptyPlan, type OutputFormat, type Plan } from './plan.ts'
