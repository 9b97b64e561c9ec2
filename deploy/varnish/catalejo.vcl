# A cache of image links, for Varnish 7, behind a proxy with TLS:
#   varnishd -a 127.0.0.1:6081 -f /etc/varnish/catalejo.vcl -s malloc,1g
# To remove all links to an image from it, on this machine: curl -X BAN -H "Cache-Tag: HASH" http://127.0.0.1:6081/
#
# The service: --trusted-proxies 127.0.0.1, and "auto_format_cache": "shared" in --image-settings.

vcl 4.1;

import std;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
}

sub vcl_recv {
    if (req.method == "BAN") {
        # What a proxy passes on names its client here, too.
        if (req.http.X-Forwarded-For != "127.0.0.1") {
            return (synth(405));
        }
        if (std.ban("obj.http.Cache-Tag ~ (^|,)" + req.http.Cache-Tag + "(,|$)")) {
            return (synth(200));
        }
        return (synth(400, std.ban_error()));
    }
    if (req.url !~ "/i/") {
        return (pass);
    }
    # Three classes of clients, so that a link with f_auto is stored at most three times.
    if (req.http.Accept ~ "image/avif") {
        set req.http.Accept = "image/avif,image/webp";
    } elsif (req.http.Accept ~ "image/webp") {
        set req.http.Accept = "image/webp";
    } else {
        set req.http.Accept = "*/*";
    }
    # Links need none, and a request with one would not be answered from the cache.
    unset req.http.Cookie;
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.X-Cache = "HIT";
    } else {
        set resp.http.X-Cache = "MISS";
    }
}
