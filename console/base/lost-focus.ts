/** Elements that had the focus before, as far back as a dialog or a bar may have been entered. */
const MAX_KEPT = 30

interface Focused {
  readonly element: HTMLElement
  readonly isInScreen: boolean
  readonly isByKeyboard: boolean
}

/**
 * Returns the focus of keyboard users to where it was before when the focused element is removed: browsers start over at
 * the top of the page. Not after a pointer: a focused field would open the keyboard of a phone.
 */
export function keepFocus(): void {
  let focused: Focused[] = []
  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    const isInScreen = target.closest('#content') !== null
    focused = [...focused, { element: target, isInScreen, isByKeyboard: target.matches(':focus-visible') }]
    focused = focused.slice(-MAX_KEPT)
  })
  addEventListener('focusout', ({ target }) => {
    // A dialog loses the focus before it is removed.
    queueMicrotask(() => {
      const isLeft = target instanceof Node && target.isConnected && document.hasFocus()
      if (isLeft && document.activeElement === document.body) focused = []
    })
  })
  // Removed elements fire no event.
  const observer = new MutationObserver(() => {
    const last = focused.at(-1)
    if (last === undefined || last.element.isConnected || document.activeElement !== document.body) return
    // The bar and the list of screens are not where a link of a screen was.
    const isPlace = ({ element, isInScreen }: Focused) =>
      element.isConnected && element.checkVisibility() && (isInScreen || !last.isInScreen)
    const place = focused.findLast(isPlace)?.element ?? document.querySelector<HTMLElement>('#content')
    focused = []
    if (last.isByKeyboard) place?.focus({ preventScroll: true })
  })
  observer.observe(document.body, { childList: true, subtree: true })
}
