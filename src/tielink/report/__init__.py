"""From a posterior to what people read: tables of links and persons, and one self-contained page."""
