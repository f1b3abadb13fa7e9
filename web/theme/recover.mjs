// The site was built anew since this tab was opened, and a file of the old one is gone. Loads the page as a whole; false where that was just done, or without a network.
const just = () => Date.now() - Number(sessionStorage.getItem("reloaded") ?? 0) < 60000; // a slow machine takes its time to load a page

export function reload_once() {
    if (!navigator.onLine || just()) return false;
    sessionStorage.setItem("reloaded", Date.now());
    location.reload();
    return true;
}

export const was_reloaded = just;
