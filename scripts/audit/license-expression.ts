/**
 * Evaluates an SPDX license expression (SPDX 2.3, annex D): `AND` needs both sides, `OR` one, and `AND` binds more tightly.
 * `WITH` exceptions and malformed expressions are never allowed, so that a person looks at them.
 */
export function isLicenseAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? []
  let position = 0

  function either(): boolean {
    let result = both()
    while (tokens[position] === 'OR') {
      position += 1
      const right = both()
      result ||= right
    }
    return result
  }

  function both(): boolean {
    let result = one()
    while (tokens[position] === 'AND') {
      position += 1
      const right = one()
      result &&= right
    }
    return result
  }

  function one(): boolean {
    const token = tokens[position]
    position += 1
    if (token !== '(') return token !== undefined && allowed.has(token)
    const result = either()
    const isClosed = tokens[position] === ')'
    position += 1
    return result && isClosed
  }

  const result = either()
  return result && position === tokens.length
}
