export { canonical, isIdentity } from './canonical.ts'
export { formatOfExtension, parseModifiers, type ModifierFault } from './parse.ts'
export { emptyPlan, type Plan } from './plan.ts'
