import { isLicenseAllowed } from './license-expression.ts'
import type { Facts, ProductionPackage } from './production-tree.ts'

/** What production dependencies may be, as policy.json lists it. A `*` at the end of a package's name matches any rest. */
export interface AuditPolicy {
  /** SPDX identifiers that any package may have. */
  readonly licenses: readonly string[]
  readonly licenseExceptions: readonly {
    readonly package: string
    readonly license: string
    readonly reason: string
  }[]
  readonly installScripts: readonly { readonly package: string; readonly reason: string }[]
}

/** Returns one line for each breach of the policy, and for each of its exceptions that no package needs any more. */
export function findBreaches(packages: readonly ProductionPackage[], policy: AuditPolicy): string[] {
  const allowed = new Set(policy.licenses)
  const used = new Set<object>()

  function isExcepted(name: string, license: string): boolean {
    const exception = policy.licenseExceptions.find(
      (one) => matches(one.package, name) && one.license === license,
    )
    if (exception !== undefined) used.add(exception)
    return exception !== undefined
  }

  function mayRunScript(name: string): boolean {
    const exception = policy.installScripts.find((one) => matches(one.package, name))
    if (exception !== undefined) used.add(exception)
    return exception !== undefined
  }

  function getBreaches(name: string, { license, hasInstallScript }: Facts): string[] {
    const breaches: string[] = []
    if (license === undefined) breaches.push('names no license')
    else if (!isLicenseAllowed(license, allowed) && !isExcepted(name, license)) {
      breaches.push(`has the license ${license}, which is not allowed`)
    }
    if (hasInstallScript && !mayRunScript(name)) breaches.push('runs a script when it is installed')
    return breaches
  }

  const breaches = packages.flatMap(({ name, path, locked, hasIntegrity, installed }) => {
    const found = new Set(getBreaches(name, locked))
    if (!hasIntegrity) found.add('has no integrity hash in package-lock.json')
    if (installed !== undefined) {
      for (const breach of getBreaches(name, installed)) found.add(breach)
      if (installed.version !== locked.version) {
        found.add(`is installed as ${installed.version}: run npm ci`)
      }
    }
    return [...found].map((breach) => `${path} (${locked.version}) ${breach}`)
  })
  const unused = [...policy.licenseExceptions, ...policy.installScripts]
    .filter((exception) => !used.has(exception))
    .map((exception) => `the exception for ${exception.package} is not needed: remove it from the policy`)
  return [...breaches, ...unused]
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
