/** The spyglass. */
export function Logo() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3.500 20.500 20 11.300l3.200 5.800L6.700 26.300z" />
      <path d="m20 11.300 4.800-5.300 4.600 8.200-6.200 2.900" />
      <path d="m13 15.200 3.200 5.800" />
    </svg>
  )
}
